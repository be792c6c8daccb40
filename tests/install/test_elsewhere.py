#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Builds for other places: LIBDIR, flags, libraries under other names and in other folders, no
arrays, no MPI in pkg-config, and programs of an uninstalled tree.

Nothing is built again: the test looks at what SCons would do.

tier: all
time: 300
beside: yes
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ['RGT_BUILD']
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
if os.path.basename(BUILD) != 'release':
    print('settings are tested with BUILD=release')
    sys.exit(77)
TREE = ['SConstruct', 'pgroup', 'arrays', 'lb', 'include', 'examples', 'tests', 'docs']


def call(command, status=0, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **kwargs)
    assert done.returncode == status, '%s\n%s' % (' '.join(command), done.stdout)
    return done.stdout


def plan(tree, *settings, targets=('all',)):
    """The commands that SCons would execute in a tree without a build."""
    return call(['scons', '-Q', '-n', 'VERBOSE=1', *settings, *targets], cwd=tree)


def line_of(text, pattern):
    found = [line for line in text.splitlines() if re.search(pattern, line)]
    assert found, '%s is not in:\n%s' % (pattern, text[-2000:])
    return found[0]


def check_names(tree, work):
    """Flags, names and prefixes, in one plan: each costs seconds."""
    for folder in ['blas/lib64', 'blas/include', 'armci/lib']:
        os.makedirs('%s/%s' % (work, folder))
    text = plan(tree, 'CFLAGS=-O3 -g1', 'CPPFLAGS=-D_FORTIFY_SOURCE=2', 'LDFLAGS=-Wl,-z,relro',
                'BLAS=blis', 'BLAS_PREFIX=' + work + '/blas', 'ARMCI=armci',
                'ARMCI_PREFIX=' + work + '/armci', 'HWLOC=hwloc15')
    compiled = line_of(text, r'-o \S*math/blas\.os')
    assert re.search(r'-O2 .*-D_FORTIFY_SOURCE=2 -O3 -g1', compiled), compiled
    assert '-Werror' not in compiled and '-I%s/blas/include' % work in compiled, compiled
    assert '-Wl,-z,relro' in line_of(text, r'-o \S*libregroup\.so')
    linked = line_of(text, r'-o \S*bin/regroup-bench').split()
    for word in ['-larmci', '-lblis', '-lhwloc15', '-Wl,-z,relro', '-L%s/armci/lib' % work,
                 '-L%s/blas/lib64' % work, '-Wl,-rpath=%s/blas/lib64' % work]:
        assert word in linked, '%s is not in %s' % (word, linked)
    assert 'openblas' not in text and 'armci-mpich' not in text, text[-2000:]
    with open(work + '/blas/include/mkl_cblas.h', 'w'):
        pass
    text = plan(tree, 'BLAS=mkl', 'BLAS_PREFIX=' + work + '/blas',
                targets=['build/release/bin/regroup-bench'])
    assert '-lmkl_rt' in line_of(text, r'-o \S*bin/regroup-bench').split(), text[-2000:]
    assert '-DRG_CBLAS=' in line_of(text, r'-o \S*math/blas\.os'), text[-2000:]
    said = call(['scons', '-Q', '-n', 'BLAZ=mkl'], 2, cwd=tree)
    assert 'BLAZ= is not known' in said and 'BLAS_PREFIX' in said, said


def check_development(tree):
    """The default targets install nothing, though the linker looks into LIBDIR for MPI too."""
    libdir = re.search(r' -L(\S+)', call(['mpicc.mpich', '-show']))[1]
    text = plan(tree, 'WERROR=1', 'BLAS=libsci,another', 'PREFIX=/usr', 'LIBDIR=' + libdir)
    assert 'Install' not in text, line_of(text, 'Install')
    assert '-Werror' in line_of(text, r'-o \S*pgroup/base/error\.os')
    assert '-lsci_gnu -lanother ' in line_of(text, r'-o \S*libregroup-arrays\.so')


def check_without_arrays(tree):
    """Whatever needs ARMCI or BLAS is left out, the tests that can be linked stay."""
    text = plan(tree, 'arrays=no', targets=['all', 'tests'])
    assert not re.search(r'-larmci|-lopenblas|libregroup-arrays', text), text[-2000:]
    for program in ['bin/regroup-info', 'bin/regroup-topo', 'bin/example-first',
                    'tests/test_group', 'lib/libregroup-mpi.so']:
        line_of(text, r'-o \S*/release-noarrays/' + program)
    for program in ['bin/regroup-mcmc', 'bin/example-array']:
        assert not re.search(r'-o \S*/' + program, text), program


def check_without_mpich(tree):
    """MPI's standard alone: no file of the room but the stand-in, and no windows."""
    text = plan(tree, 'MPICH=no', 'ARRAYS=no', targets=['all', 'tests'])
    assert set(re.findall(r'-o \S*/pgroup/mpich/(\S+)\.os', text)) == {'absent'}, text[-2000:]
    assert not re.search(r'pgroup/mpich/windows|libregroup-polite\.so', text), text[-2000:]
    assert '-DRG_NO_MPICH' in line_of(text, r'-o \S*mpich/absent\.os')
    for program in ['bin/regroup-info', 'tests/test_group', 'lib/libregroup-mpi.so']:
        line_of(text, r'-o \S*/release-noarrays-nompich/' + program)


def check_places(tree, work):
    """LIBDIR, and .pc files that name MPI's flags where pkg-config does not know MPI."""
    dest = 'DESTDIR=' + work + '/stage'
    text = plan(tree, 'PREFIX=/usr', 'LIBDIR=lib/here', dest, targets=['install'])
    libraries = re.findall(r'\S+/libregroup\.so\S*', line_of(text, r'Install file.*libregroup\.so'))
    assert libraries[-1].startswith('"%s/stage/usr/lib/here/libregroup.so' % work), libraries
    made = call(['scons', '-Q', 'build/release/packaging/regroup.pc', 'PREFIX=/usr',
                 'LIBDIR=/usr/lib/here'], cwd=tree)
    with open(tree + '/build/release/packaging/regroup.pc') as f:
        text = f.read()
    assert 'libdir=${prefix}/lib/here\n' in text and 'Requires: mpich\n' in text, made + text
    call(['scons', '-Q', 'build/release/packaging/regroup.pc', 'MPICC=' + make_wrapper(work)],
         cwd=tree)
    with open(tree + '/build/release/packaging/regroup.pc') as f:
        text = f.read()
    assert re.search(r'^Requires: *\n', text, re.M), text
    assert re.search(r'^Cflags: .*/mpich', text, re.M) and re.search(r'^Libs: .*-lmpich', text, re.M)
    flags = call(['pkg-config', '--cflags', '--libs', 'regroup'],
                 env=dict(os.environ, PKG_CONFIG_LIBDIR=tree + '/build/release/packaging')).split()
    flags = [f for f in flags if f != '-L/usr/local/lib']
    program = work + '/without_mpich_pc'
    call(['gcc', 'tests/install/client.c', '-o', program, '-L%s/lib' % BUILD, '-Iinclude', *flags])
    assert re.search(r'RUNPATH.*%s/mpi' % work, call(['readelf', '-d', program]))
    run_client(program, dict(os.environ, LD_LIBRARY_PATH=BUILD + '/lib'))


def make_wrapper(work):
    """The compiler wrapper of an MPI elsewhere names its folder for programs, in two words."""
    flags = call(['mpicc.mpich', '-show']).split(None, 1)[1]
    with open(work + '/mpicc', 'w') as f:
        f.write('#!/bin/sh\necho gcc -Wl,-rpath -Wl,%s/mpi %s' % (work, flags))
    os.chmod(work + '/mpicc', 0o755)
    return work + '/mpicc'


def run_client(program, env=None):
    said = call([*MPIEXEC, '-n', '2', program], env=env)
    assert 'size 2 polite ' in said, said


def check_uninstalled(work):
    """The .pc files of the build itself: no path needs to be set to run the program."""
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.abspath(BUILD) + '/lib/pkgconfig')
    for package, source in [('regroup', 'client.c'), ('regroup-arrays', 'client_arrays.c')]:
        flags = call(['pkg-config', '--cflags', '--libs', package], env=env).split()
        call(['gcc', 'tests/install/' + source, '-o', work + '/' + package, *flags])
        run_client(work + '/' + package)


def main(work):
    tree = work + '/tree'
    os.makedirs(tree)
    for name in TREE:
        os.symlink(os.path.abspath(name), tree + '/' + name)
    check_names(tree, work)
    check_development(tree)
    check_without_arrays(tree)
    check_without_mpich(tree)
    if shutil.which('pkg-config'):
        check_places(tree, work)
        check_uninstalled(work)


with tempfile.TemporaryDirectory() as folder:
    main(folder)

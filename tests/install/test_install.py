#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The installed package: complete, usable through pkg-config, its headers alone as C and C++,
and removed without a trace.

time: 300
beside: yes
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.basename(os.environ['RGT_BUILD'])
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
if BUILD != 'release':
    print('the package is tested with BUILD=release')
    sys.exit(77)


def call(command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **kwargs)
    assert done.returncode == 0, '%s\n%s' % (' '.join(command), done.stdout)
    return done.stdout


def scons(*args):
    return call(['scons', '-Q', *args])


def files(top):
    return sorted(os.path.relpath(os.path.join(folder, name), top)
                  for folder, _, names in os.walk(top) for name in names)


def has_fortran():
    return bool(shutil.which('mpifort.mpich') and shutil.which('gfortran'))


def expected_files(version):
    headers = ['include/' + os.path.relpath(f, 'include')
               for f in glob.glob('include/**/*.h', recursive=True)]
    series = '.'.join(version.split('.')[:2 if version.startswith('0.') else 1])
    libs = ['lib/lib%s.%s' % (name, end) for name in ['regroup', 'regroup-arrays', 'regroup-linalg', 'regroup-ga', 'regroup-ga-i4', 'regroup-polite']
            for end in ['a', 'so', 'so.' + series, 'so.' + version]]
    libs += ['lib/lib%s.so%s' % (name, end) for name in ['regroup-mpi', 'regroup-world']
             for end in ['', '.' + series, '.' + version]]
    headers += ['include/regroup/ulfm/' + name for name in ['mpi_ext.f90'] + has_fortran() * [
        'mpi_ext.mod', 'mpi_ext_constants.mod', 'mpi_ext_f08.mod']]
    headers += [f for f in glob.glob('include/regroup-ga/*.fh')]
    headers += ['include/regroup-ga/ga.h', 'include/regroup-ga/ga-mpi.h', 'include/regroup-ga/global.fh']
    packages = ['lib/pkgconfig/regroup.pc', 'lib/pkgconfig/regroup-arrays.pc', 'lib/pkgconfig/regroup-linalg.pc',
                'lib/pkgconfig/regroup-mpi.pc', 'lib/pkgconfig/regroup-ga.pc', 'lib/pkgconfig/regroup-ga-i4.pc', 'lib/regroup-ga/bin/ga-config',
                'lib/cmake/Regroup/RegroupConfig.cmake',
                'lib/cmake/Regroup/RegroupConfigVersion.cmake']
    packages.append('share/modulefiles/regroup/' + version)
    programs = ['bin/' + os.path.basename(f) for f in glob.glob('build/release/bin/regroup-*')]
    functions = {name for header in glob.glob('include/regroup/*.h') for name in
                 re.findall(r'^RG_API[^;(]*?\b(rg_\w+)\(', open(header).read(), re.M)}
    pages = (['share/man/man3/%s.3' % f for f in functions] +
             ['share/man/man1/%s.1' % os.path.basename(p) for p in programs])
    return sorted(headers + libs + packages + programs + pages)


def check_sonames(prefix, version):
    series = '.'.join(version.split('.')[:2 if version.startswith('0.') else 1])
    for name in ['libregroup', 'libregroup-arrays', 'libregroup-linalg', 'libregroup-ga', 'libregroup-ga-i4', 'libregroup-polite', 'libregroup-mpi',
                 'libregroup-world']:
        text = call(['readelf', '-d', '%s/lib/%s.so' % (prefix, name)])
        assert 'Library soname: [%s.so.%s]' % (name, series) in text, text


def pkg_config(prefix, *args, package='regroup'):
    env = dict(os.environ, PKG_CONFIG_PATH=prefix + '/lib/pkgconfig')
    return call(['pkg-config', *args, package], env=env).split()


def run_client(program, env=None):
    said = call([*MPIEXEC, '-n', '2', program], env=env)
    assert 'size 2 polite ' in said, said


def check_pkg_config(prefix, work, package, source):
    """A program linked with the shared libraries, and one with the static ones."""
    env = dict(os.environ, LD_LIBRARY_PATH=prefix + '/lib')
    for name, args, extra in [('shared', ['--libs'], []), ('static', ['--libs', '--static'],
                                                           ['-Wl,-u,rg_polite_active'])]:
        flags = (pkg_config(prefix, '--cflags', package=package) + extra +
                 pkg_config(prefix, *args, package=package))
        if name == 'static':
            flags = [prefix + '/lib/lib%s.a' % f[2:] if f.startswith('-lregroup') else f
                     for f in flags]
        program = '%s/%s-%s' % (work, package, name)
        call(['gcc', source, '-o', program, *flags])
        needed = call(['readelf', '-d', program])
        for library in ['regroup', package]:
            assert ('lib%s.so' % library in needed) == (name == 'shared'), needed
        run_client(program, env if name == 'shared' else None)


def check_ga_config(prefix, work):
    """What a program's makefile asks for."""
    def ask(*words):
        return call([prefix + '/lib/regroup-ga/bin/ga-config', *words]).split()
    assert ask('--prefix') == [prefix]
    program = work + '/ga-by-config'
    call(['gcc', *ask('--cflags'), 'tests/install/client_ga.c', '-o', program, *ask('--ldflags', '--libs')])
    run_client(program)


ULFM_C = '''
#include <stdio.h>
#include <mpi.h>
#include <mpi-ext.h>

int main(int argc, char **argv) {
  int flag = 1, word = 6;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = MPIX_Comm_is_revoked(MPI_COMM_WORLD, &flag);
  if (!code)
    MPIX_Comm_agree(MPI_COMM_WORLD, &word);
  printf("%d %d %d\\n", code == MPI_ERR_UNSUPPORTED_OPERATION, flag, word);
  MPI_Finalize();
}
'''
ULFM_F90 = '''
program test
  use mpi
  use mpi_ext
  integer :: ierr
  logical :: flag
  call MPI_Init(ierr)
  call MPIX_Comm_is_revoked(MPI_COMM_WORLD, flag, ierr)
  print '(a,l2)', 'revoked', flag
  call MPI_Finalize(ierr)
end program
'''


def check_ulfm(prefix, work):
    """Programs of MPI's fault-tolerance extension, by the package regroup-mpi: in a job that does not survive
    the calls are errors."""
    run = [prefix + '/bin/regroup-run', '-n', '2']
    env = dict(os.environ, LD_LIBRARY_PATH=prefix + '/lib')
    flags = pkg_config(prefix, '--cflags', '--libs', package='regroup-mpi')
    for name, source, compiler in [('ulfm.c', ULFM_C, 'gcc')] + [('ulfm.f90', ULFM_F90, 'mpifort.mpich')] * has_fortran():
        with open(work + '/' + name, 'w') as f:
            f.write(source)
        call([compiler, work + '/' + name, '-o', work + '/ulfm', *flags])
        said = call([*run, work + '/ulfm'], env=env)
        assert said.count('0 0 6\n') == 2 or said.count('revoked F\n') == 2, said
        if name == 'ulfm.c':
            said = call([*MPIEXEC, '-n', '2', work + '/ulfm'], env=env)
            assert said.count('1 1 6\n') == 2, said


MODULE = '''
proc module-whatis {text} {}
proc conflict {name} {}
proc setenv {name value} { puts "$name=$value" }
proc prepend-path {name value} { puts "$name=$value" }
source %s
ModulesHelp
'''


def check_module(prefix, version):
    """The environment module names folders that are there; it is a program in Tcl, run where Tcl is."""
    path = prefix + '/share/modulefiles/regroup/' + version
    with open(path) as f:
        text = f.read()
    assert text.startswith('#%Module1.0\n'), text
    found = dict(re.findall(r'^prepend-path (\S+) (\S+)$', text.replace('$prefix', prefix), re.M))
    assert {'PATH', 'LD_LIBRARY_PATH', 'PKG_CONFIG_PATH', 'CMAKE_PREFIX_PATH'} <= set(found), found
    for folder in found.values():
        assert os.path.isdir(folder.rstrip(':')), folder
    if shutil.which('tclsh'):
        said = call(['tclsh'], input=MODULE % path)
        assert 'LD_LIBRARY_PATH=%s/lib\n' % prefix in said, said


def check_headers(prefix, work):
    flags = [f.replace('-I', '-isystem') if not f.startswith('-I' + prefix) else f
             for f in pkg_config(prefix, '--cflags')]
    headers = sorted(glob.glob(prefix + '/include/**/*.h', recursive=True))
    assert len(headers) > 1
    for header in headers:
        source = work + '/alone.c'
        with open(source, 'w') as f:
            f.write('#include <%s>\nextern int something;\n' % os.path.relpath(header, prefix + '/include'))
        for compiler in [['gcc', '-std=c11'], ['g++', '-std=c++17', '-x', 'c++']]:
            call([*compiler, '-Wall', '-Wextra', '-Werror', '-pedantic', *flags, '-fsyntax-only',
                  source])


def check_pages(prefix):
    """Every page says who calls, and groff understands it."""
    pages = glob.glob(prefix + '/share/man/man3/*.3')
    for page in pages:
        with open(page) as f:
            text = f.read()
        assert '.SH CALLED BY\n' in text and '.SH DESCRIPTION\n' in text, page
    if shutil.which('groff'):
        said = call(['groff', '-man', '-ww', '-Tutf8', '-z', *pages])
        assert not said, said


def check_staged(work, version):
    """For a package: under DESTDIR, where another one has files too."""
    staged = ['PREFIX=/opt/regroup', 'DESTDIR=' + work + '/stage']
    scons('install', *staged)
    assert files(work + '/stage/opt/regroup') == expected_files(version), files(work)
    with open(work + '/stage/opt/regroup/lib/pkgconfig/regroup.pc') as f:
        assert 'prefix=/opt/regroup\n' in f.read()
    with open(work + '/stage/opt/regroup/include/another.h', 'w'):
        pass
    scons('uninstall', *staged)
    assert files(work + '/stage') == ['opt/regroup/include/another.h'], files(work + '/stage')
    assert not os.path.exists(work + '/stage/opt/regroup/include/regroup')


def main(work):
    with open('include/regroup/version.h') as f:
        version = f.read().split('RG_VERSION "')[1].split('"')[0]
    if os.environ.get('RGT_TIER', 'all') == 'all':
        check_staged(work, version)
    prefix = work + '/prefix'
    scons('install', 'PREFIX=' + prefix)
    assert files(prefix) == expected_files(version), files(prefix)
    again = scons('install', 'PREFIX=' + prefix)
    assert 'INSTALL' not in again, again
    assert pkg_config(prefix, '--modversion') == [version]
    check_sonames(prefix, version)
    check_headers(prefix, work)
    check_pages(prefix)
    check_module(prefix, version)
    check_pkg_config(prefix, work, 'regroup', 'tests/install/client.c')
    check_pkg_config(prefix, work, 'regroup-arrays', 'tests/install/client_arrays.c')
    check_pkg_config(prefix, work, 'regroup-linalg', 'tests/install/client_linalg.c')
    check_pkg_config(prefix, work, 'regroup-ga', 'tests/install/client_ga.c')
    check_ga_config(prefix, work)
    check_ulfm(prefix, work)
    scons('uninstall', 'PREFIX=' + prefix)
    assert files(prefix) == [], files(prefix)


with tempfile.TemporaryDirectory() as folder:
    main(folder)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The CMake package: a project in C and C++ finds it, links it both ways, and runs.

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

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
if os.path.basename(os.environ['RGT_BUILD']) != 'release':
    print('the package is tested with BUILD=release')
    sys.exit(77)
if not shutil.which('cmake') or not shutil.which('make'):
    print('cmake or make is not installed')
    sys.exit(77)


def call(command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **kwargs)
    assert done.returncode == 0, '%s\n%s' % (' '.join(command), done.stdout)
    return done.stdout


with open('include/regroup/version.h') as f:
    SERIES = re.search(r'RG_VERSION "(\d+\.\d+)', f.read())[1]  # while the major version is 0


def configure(work, source, version):
    done = subprocess.run(['cmake', '-S', source, '-B', work + '/' + version,
                           '-DCMAKE_PREFIX_PATH=' + work + '/prefix'], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


PARTS = '''cmake_minimum_required(VERSION 3.16)
project(parts C)
find_package(Regroup @SERIES@ REQUIRED COMPONENTS %s)
foreach(target regroup arrays linalg ga mpi polite)
  if(TARGET Regroup::${target})
    message(STATUS "target ${target}")
  endif()
endforeach()
message(STATUS "MPI found: ${MPI_C_FOUND}")
'''


def parts(work, components):
    """Configures with these components alone: the status, the targets, and what else was said."""
    with open(work + '/parts/CMakeLists.txt', 'w') as f:
        f.write(PARTS.replace('@SERIES@', SERIES) % components)
    status, text = configure(work, work + '/parts', 'parts-build')
    return status, ' '.join(re.findall(r'-- target (\w+)', text)), text


def check_components(work):
    os.makedirs(work + '/parts')
    status, targets, text = parts(work, 'polite')
    assert status == 0 and targets == 'polite' and not re.search(r'MPI found: \S', text), text
    status, targets, text = parts(work, 'mpi')
    assert status == 0 and targets == 'mpi' and re.search(r'MPI found: TRUE', text, re.I), text
    status, targets, text = parts(work, 'arrays')
    assert status == 0 and targets == 'regroup arrays', text
    status, targets, text = parts(work, 'linalg')
    assert status == 0 and targets == 'regroup arrays linalg', text
    status, targets, text = parts(work, 'ga')
    assert status == 0 and targets == 'regroup arrays linalg ga', text
    status, _, text = parts(work, 'regroup nothing')
    assert status != 0 and 'no component nothing' in text, text
    config = work + '/prefix/lib/cmake/Regroup/RegroupConfig.cmake'
    with open(config) as f:
        text = f.read()
    with open(config, 'w') as f:
        f.write(text.replace('NAMES armci-mpich', 'NAMES armci-nowhere'))
    shutil.rmtree(work + '/parts-build')
    status, _, text = parts(work, 'arrays')
    assert status != 0 and 'arrays need ARMCI-MPI' in ' '.join(text.split()), text
    status, targets, text = parts(work, 'regroup OPTIONAL_COMPONENTS arrays')
    assert status == 0 and targets == 'regroup', text


def check_order(program, library):
    """The library is found before MPI, though the project names MPI first."""
    needed = re.findall(r'NEEDED.*\[(.*)\]', call(['readelf', '-d', program]))
    ours = [i for i, name in enumerate(needed) if name.startswith(library)]
    mpi = [i for i, name in enumerate(needed) if name.startswith('libmpi')]
    assert ours and mpi and ours[0] < mpi[0], needed


def main(work):
    source = work + '/source'
    shutil.copytree('tests/install', source)
    shutil.copy('tests/docs/app.c', source)
    call(['scons', '-Q', 'install', 'PREFIX=' + work + '/prefix'])
    with open(source + '/CMakeLists.txt') as f:
        lines = f.read()

    def configure_for(version):
        with open(source + '/CMakeLists.txt', 'w') as f:
            f.write(lines.replace('@SERIES@', version))
        return configure(work, source, version)

    status, text = configure_for(SERIES)
    assert status == 0, text
    built = work + '/' + SERIES
    call(['cmake', '--build', built])
    for name in ['client', 'client_static', 'client_cxx', 'client_arrays', 'client_arrays_static']:
        said = call([*MPIEXEC, '-n', '2', '%s/%s' % (built, name)])
        assert 'size 2 polite ' in said, said
    for name in ['mpi', 'polite']:
        program = '%s/client_%s' % (built, name)
        check_order(program, 'libregroup-' + name)
        call([*MPIEXEC, '-n', '2', program], env=dict(os.environ, RG_POLITE='1'))
    check_components(work)

    for wrong in ['0.1', '0.%d' % (int(SERIES.split('.')[1]) + 1), '1.0']:
        status, text = configure_for(wrong)
        assert status != 0 and 'compatible' in text, text


with tempfile.TemporaryDirectory() as folder:
    main(folder)

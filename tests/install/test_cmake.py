#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The CMake package: a project in C and C++ finds it, links it both ways, and runs.

time: 300
beside: yes
"""
import os
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


def configure(work, source, version):
    done = subprocess.run(['cmake', '-S', source, '-B', work + '/' + version,
                           '-DCMAKE_PREFIX_PATH=' + work + '/prefix'], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main(work):
    source = work + '/source'
    shutil.copytree('tests/install', source)
    call(['scons', '-Q', 'install', 'PREFIX=' + work + '/prefix'])
    status, text = configure(work, source, '0.2')
    assert status == 0, text
    call(['cmake', '--build', work + '/0.2'])
    for name in ['client', 'client_static', 'client_cxx', 'client_arrays', 'client_arrays_static']:
        said = call([*MPIEXEC, '-n', '2', '%s/0.2/%s' % (work, name)])
        assert 'size 2 polite ' in said, said

    with open(source + '/CMakeLists.txt') as f:
        lines = f.read()
    for wrong in ['0.1', '0.3', '1.0']:
        with open(source + '/CMakeLists.txt', 'w') as f:
            f.write(lines.replace('Regroup 0.2 ', 'Regroup %s ' % wrong))
        status, text = configure(work, source, wrong)
        assert status != 0 and 'compatible' in text, text


with tempfile.TemporaryDirectory() as folder:
    main(folder)

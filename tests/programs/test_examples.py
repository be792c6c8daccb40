#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The examples a newcomer starts from: each runs at several rank counts, without a word on
standard error, and is valid C++ too.

time: 300
beside: yes
"""
import glob
import os
import subprocess
import sys

FULL = os.environ.get('RGT_TIER', 'all') == 'all'
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
HEADERS = '/usr/lib/*/openmpi/include' if 'openmpi' in MPIEXEC[0] else '/usr/include/*/mpich'
MPI_FLAGS = ['-isystem' + d for d in glob.glob(HEADERS)]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, (command, done)
    return done.stdout


programs = sorted(glob.glob(os.environ['RGT_BUILD'] + '/bin/example-*'))
if not programs:
    print('there are no examples')
    sys.exit(77)
for program in programs:
    for np in ['1', '2', '3', '4', '7'] if FULL else ['1', '3']:
        assert run([*MPIEXEC, '-n', np, program]), program
    name = os.path.basename(program)[len('example-'):]
    for source in glob.glob('examples/%s/*.c' % name):
        run(['g++', '-std=c++17', '-x', 'c++', '-Wall', '-Wextra', '-Werror', '-Iinclude',
             *MPI_FLAGS, '-fsyntax-only', source])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Spawning and connecting by MPI itself, with Open MPI, which can: the layers that this needs
are compiled for it here.

time: 300
beside: yes
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

MPIEXEC = ['mpiexec.openmpi', '--mca', 'orte_execute_quiet', '1', '--mca', 'btl_tcp_if_include', 'lo',
           '--oversubscribe', '--allow-run-as-root']
if not shutil.which('mpicc.openmpi') or not shutil.which('mpiexec.openmpi'):
    print('Open MPI is not installed')
    sys.exit(77)


def build(folder):
    """The program, from the sources; a compiler for each of its parts at a time."""
    sources = [f for part in ['pgroup/runtime', 'pgroup/formation', 'pgroup/intercomm',
                              'tests/check'] for f in sorted(glob.glob(part + '/*.c'))]
    sources.append('tests/intercomm/test_inter_program.c')
    program = folder + '/program'
    subprocess.run(['mpicc.openmpi', '-std=c11', '-O0', '-pthread', '-D_GNU_SOURCE', '-Iinclude',
                    '-Ipgroup', '-Itests/check', *sources, '-o', program, '-lcunit', '-ldl', '-lm'],
                   check=True)
    return program


def run(program, np, *arguments):
    return subprocess.run([*MPIEXEC, '-n', str(np), program, *arguments], capture_output=True,
                          text=True)


with tempfile.TemporaryDirectory() as folder:
    ready = os.environ['RGT_BUILD'] + '/tests/test_inter_program'
    ours = 'openmpi' in os.environ['RGT_MPIEXEC'] and os.path.exists(ready)
    program = ready if ours else build(folder)
    for kind in ['spawn', 'connect']:
        for first, n in [(1, 1), (1, 2), (2, 4), (3, 3), (3, 5)]:
            done = run(program, first, '--%s=%d' % (kind, n), '--first=%d' % first, '--option1',
                       '--option2')
            lines = [x for x in done.stdout.splitlines() if not x.startswith('RGT begin')]
            assert done.returncode == 0 and sorted(lines) == [
                '%d and %d by %s' % (first, n, kind)] + [
                    'RGT inter_program tests=1 failed=0'] * 2, (kind, first, n, done)

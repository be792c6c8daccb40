#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The report of libregroup-mpi.so tells how many calls on windows were served and passed on.

time: 60
beside: yes
"""
import os
import re
import subprocess
import sys

BUILD = os.environ['RGT_BUILD']
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
LIBRARY = os.path.abspath(BUILD + '/lib/libregroup-mpi.so')
if 'asan' in os.path.basename(BUILD) or 'openmpi' in MPIEXEC[0]:
    print('a program would have to be linked with the sanitizer; Open MPI serves its windows itself')
    sys.exit(77)


def run(program, np, **more):
    given = ['%s=%s' % pair for pair in {'LD_PRELOAD': LIBRARY, **more}.items()]
    done = subprocess.run(['timeout', '60', *MPIEXEC, '-n', str(np), 'env', *given,
                           '%s/tests/%s' % (BUILD, program)], capture_output=True, text=True)
    assert done.returncode == 0, (program, np, more, done)
    return done.stdout, done.stderr


def reported(text):
    """{call: (served, passed on)}"""
    return {name: (int(a), int(b))
            for name, a, b in re.findall(r'^regroup-mpi:   (\w+) +(\d+) +(\d+)$', text, re.M)}


def printed(text):
    """The same of what a program has printed."""
    return {name: (int(a), int(b)) for name, a, b in re.findall(r'^calls (\w+) (\d+) (\d+)$', text, re.M)}


for np in [1, 2, 3]:
    for choice in ['all', 'rma', 'all,-rma', 'none']:
        out, told = run('plain_calls', np, RG_MPI=choice, RG_MPI_REPORT='1')
        calls = printed(out)
        served = choice in ['all', 'rma']
        want = {name: (a, b) if served else (0, a + b) for name, (a, b) in calls.items()}
        assert len(calls) == 9 and reported(told) == want, (np, choice, reported(told), want)
        assert 'calls on windows' in told, told
for np in [2, 3, 4, 7]:  # on two nodes
    out, told = run('plain_span_calls', np, MPIR_CVAR_NUM_CLIQUES='2', RG_MPI_REPORT='1')
    assert len(printed(out)) == 9 and reported(told) == printed(out), (np, out, told)
_, told = run('plain_calls', 2)
assert told == '', told
_, told = run('plain_groups', 2, RG_MPI_REPORT='1')  # without windows
assert 'calls, 2 processes' in told and 'windows' not in told, told

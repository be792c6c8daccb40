#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""MPI_Comm_spawn in jobs with a process in reserve, while a caller or that process lacks memory for its
n-th allocation, or from that one on: all callers have the error or none, the process is in reserve
again, and the next call works. In the tier all for all n, else for some of the single ones.

time: 240
beside: yes
"""
import os
import random
import subprocess
import sys

for room in ['recovery', 'mpi']:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', room))
import jobs  # noqa: E402
from preload import skip, skip_sanitized  # noqa: E402

BUILD, MPIEXEC = os.environ['RGT_BUILD'], os.environ['RGT_MPIEXEC'].split()
FULL = os.environ.get('RGT_TIER', 'all') == 'all'
ENV = dict(os.environ, RG_SURVIVE='1', UCX_TLS='tcp,self', RG_RESERVE='1', RG_LOG='none', UCX_LOG_LEVEL='error',
           LD_PRELOAD='%s/lib/libregroup-world.so' % os.path.abspath(BUILD))
RESERVE, SOME = -1, 3


def attempts(ranks, victim, lasting, first):
    """Until a process is spawned. Returns the next attempt, None after the last one."""
    words = [BUILD + '/tests/memory_spawn', *map(str, [victim, lasting, first])]
    run = subprocess.run([*MPIEXEC, '-n', str(ranks), *words], env=ENV, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    at = run.stdout.split()
    assert run.returncode == 0 and len(at) == 2, (ranks, words, run.returncode, run.stdout[-3000:])
    return int(at[1]) if at[0] == 'next' else None


def test_all(ranks, victim, lasting):
    first = 1
    while first:
        first = attempts(ranks, victim, lasting, first)


def test_some(ranks, victim):
    for _ in range(SOME):
        attempts(ranks, victim, 0, random.randint(1, 60))


skip_sanitized()
if not jobs.OVER_UCX:
    skip('calls of this MPI cannot be interrupted')
random.seed(int(os.environ.get('RGT_SEED', '1')))
for ranks in [2, 3, 4] if FULL else [3]:
    for victim in [*range(ranks - 1), RESERVE]:
        test_all(ranks, victim, 1)
        if FULL:
            test_all(ranks, victim, 0)
        else:
            test_some(ranks, victim)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The report of libregroup-mpi.so tells how many calls on windows were served and passed on.

tier: quick
time: 60
beside: yes
"""
from preload import (LIBRARY, counted, run, skip_openmpi, skip_sanitized, under,
                     window_report)

skip_sanitized('asan')
skip_openmpi()


def call(program, np, **more):
    return run(np, under(LIBRARY, 'tests/' + program, **more))


for np in [1, 2, 3]:
    for choice in ['all', 'rma', 'all,-rma', 'none']:
        out, told = call('plain_calls', np, RG_MPI=choice, RG_MPI_REPORT='1')
        calls = counted(out)
        served = choice in ['all', 'rma']
        want = {name: (a, b) if served else (0, a + b) for name, (a, b) in calls.items()}
        assert len(calls) == 9 and window_report(told) == want, (np, choice, told, want)
        assert 'calls on windows' in told, told
for np in [2, 3, 4, 7]:  # on two nodes
    out, told = call('plain_span_calls', np, MPIR_CVAR_NUM_CLIQUES='2', RG_MPI_REPORT='1')
    assert len(counted(out)) == 9 and window_report(told) == counted(out), (np, out, told)
_, told = call('plain_calls', 2)
assert told == '', told
_, told = call('plain_groups', 2, RG_MPI_REPORT='1')  # without windows
assert 'calls, 2 processes' in told and 'windows' not in told, told

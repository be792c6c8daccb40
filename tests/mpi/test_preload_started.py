#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""MPICH's algorithms that libregroup-mpi.so chooses for non-blocking collectives.

time: 60
beside: yes
"""
import re

from preload import (LIBRARY, POLITE, SEED, over_libfabric, run, run_tests, skip_openmpi, skip_sanitized,
                     under)

skip_sanitized('asan')
skip_openmpi()

PROGRAM = 'tests/plain_started'
SHARED = {'RG_OVERSUBSCRIBED': 'yes'}
ALGORITHMS = {'IBCAST': 'tsp_tree', 'ISCATTERV': 'tsp_linear', 'IREDUCE': 'tsp_tree'}
VARIABLES = {'MPIR_CVAR_%s_INTRA_ALGORITHM' % c: name for c, name in ALGORITHMS.items()}


def values(library, **more):
    """What the variables are after a call, and the numbers that the library tells."""
    out, told = run(2, under(library, PROGRAM, 'values', RG_LOG='debug', **more))
    read = {c: int(n) for c, n in re.findall(r'^value (\S+) (\d+)$', out, re.M)}
    found = re.findall(r"MPICH's algorithm for (\S+): (\S+), number (\d+)", told)
    return read, {c: (name, int(n)) for c, name, n in found}


# The numbers are those that MPICH itself finds for the names; after a call nothing is left.
numbers, _ = values(POLITE, **VARIABLES)
assert sorted(numbers) == sorted(ALGORITHMS) and 0 not in numbers.values(), numbers
read, told = values(LIBRARY)
assert told == {c: (name, numbers[c]) for c, name in ALGORITHMS.items()}, (told, numbers)
assert set(read.values()) == {0}, read

# What the user has set stays.
read, told = values(LIBRARY, MPIR_CVAR_IBCAST_INTRA_ALGORITHM='sched_binomial')
assert read['IBCAST'] not in [0, numbers['IBCAST']] and 'IBCAST' not in told, (read, told)
assert len(told) == len(ALGORITHMS) - 1, told

# No receiver needs another.
for np in [4, 7, 8]:  # MPICH's tree has a middle
    out, _ = run(np, under(LIBRARY, PROGRAM, 'leaves', **SHARED))
    assert out.count('broadcast') == 1 and out.count('scattered') == 1, out

print('seed', SEED)
for np in [1, 2, 3, 4, 7, 8, 9] if run_tests.FULL else [3, 7]:
    out, told = run(np, under(LIBRARY, PROGRAM, 'random', SEED, **SHARED))
    assert 'wrong' in out and 'is wrong' not in out, (np, out, told)

# A process whose threads may call MPI at the same time, where the others' may not. MPICH over libfabric
# then aborts in MPI_Allreduce, also alone.
for np in [] if over_libfabric() else [2, 3, 4, 7][0 if run_tests.FULL else 3:]:
    out, told = run(np, under(LIBRARY, PROGRAM, 'random', SEED, 'threads', **SHARED))
    assert 'wrong' in out and 'is wrong' not in out, (np, out, told)

for np in [2, 3, 4, 7][0 if run_tests.FULL else 3:]:  # on two nodes: of one rank each, one with more than the other
    out, told = run(np, under(LIBRARY, PROGRAM, 'random', SEED, MPIR_CVAR_NUM_CLIQUES='2', **SHARED))
    assert 'wrong' in out and 'is wrong' not in out, (np, out, told)
_, told = run(2, under(LIBRARY, PROGRAM, 'values', RG_MPI='none', RG_LOG='debug'))
assert 'algorithm for' not in told, told

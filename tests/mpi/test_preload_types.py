#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Collectives on types of all forms and with operations of the program's, and wrong ones, under libregroup-mpi.so,
which leave the communicator usable.

time: 60
beside: yes
"""
import re

from preload import LIBRARY, SEED, run, skip_openmpi, skip_sanitized, under

skip_sanitized('asan')
skip_openmpi()  # 4.1 has errors of its own here

print('seed', SEED)
for np, more in [(1, {}), (2, {}), (3, {}), (4, {'RG_ARENA_SIZE': '1'}), (7, {}),
                 (3, {'RG_OVERSUBSCRIBED': 'no'}), (4, {'MPIR_CVAR_NUM_CLIQUES': '2'})]:
    out, told = run(np, under(LIBRARY, 'tests/plain_types', SEED, '150', **more))
    none = np * ' 0'
    assert out == 'wrong%s\nmisaligned%s\n' % (none, none), (np, more, out, told)

# Errors end one call, not the communicator. Between nodes UCX tells of messages that are left.
TWO_NODES = {'MPIR_CVAR_NUM_CLIQUES': '2', 'UCX_LOG_LEVEL': 'error'}
for np, more in [(1, {}), (2, {}), (3, {}), (4, {'RG_OVERSUBSCRIBED': 'no'}), (7, {}),
                 *[(np, TWO_NODES) for np in (2, 3, 4, 7)]]:
    out, told = run(np, under(LIBRARY, 'tests/plain_after_errors', SEED, '40', **more))
    assert out == 'wrong%s\n' % (np * ' 0'), (np, more, out, told)

# What MPICH does not look at; it ends with a signal.
out, _ = run(2, under(LIBRARY, 'tests/plain_errors', 'unchecked'))
classes = re.findall(r'^(\w+) (\d+) (\d+)$', out, re.M)
assert [c[1:] for c in classes] == [
    ('100', '100'), ('1200', '1200'), ('1200', '1200'), ('1200', '1200'),
    ('0', '100'), ('0', '100'), ('0', '100')], out

# A fatal error names the program's call, and what each has.
_, told = run(2, under(LIBRARY, 'tests/plain_errors', 'lengths'), fails=True)
assert re.search(r'^regroup: MPI_Allreduce: .*rank \d has \d+ bytes, this process \d+$', told, re.M), told
assert 'rg_' not in told and 'errhandler' not in told, told
_, told = run(2, under(LIBRARY, 'tests/plain_errors', 'dead'), fails=True)
assert 'regroup:' not in told, told

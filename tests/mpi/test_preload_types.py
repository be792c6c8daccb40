#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Collectives on types of all forms and with operations of the program's, under libregroup-mpi.so.

time: 60
beside: yes
"""
from preload import LIBRARY, SEED, run, skip_openmpi, skip_sanitized, under

skip_sanitized('asan')
skip_openmpi()  # 4.1 has errors of its own here

print('seed', SEED)
for np, more in [(1, {}), (2, {}), (3, {}), (4, {'RG_ARENA_SIZE': '1'}), (7, {}),
                 (3, {'RG_OVERSUBSCRIBED': 'no'}), (4, {'MPIR_CVAR_NUM_CLIQUES': '2'})]:
    out, told = run(np, under(LIBRARY, 'tests/plain_types', SEED, '150', **more))
    none = np * ' 0'
    assert out == 'wrong%s\nmisaligned%s\n' % (none, none), (np, more, out, told)

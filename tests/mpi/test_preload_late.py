#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The first collective on a communicator without one of its members: a report, and an error after
RG_TIMEOUT (plain_late.c). Without a time limit a broadcast waits for none.

time: 120
beside: yes
"""
import re

from preload import LIBRARY, OPENMPI, run, run_tests, skip_sanitized, under

skip_sanitized()
LIMIT = run_tests.limit(0.2)  # a member that comes may come late


def late(np, who, call, **more):
    return run(np, under(LIBRARY, 'tests/plain_late', str(who), call, RG_TIMEOUT='%g' % LIMIT, RG_STALL_REPORT='0.2'), **more)


def numbers(text):
    return {name: [int(n) for n in row.split()] for name, row in re.findall(r'^(\w+)((?: -?\d+)+)$', text, re.M)}


CALLS = ['barrier', 'bcast', 'allreduce', 'gatherv'] + ([] if OPENMPI else ['window'])
for size in [2, 3, 7]:
    for who in [0, -1]:
        for call in CALLS if size == 3 else ['bcast']:
            text, said = late(size, who, call)
            found, name = numbers(text), 'MPI_Win_allocate' if call == 'window' else 'rg_' + call
            if call == 'gatherv' and who == -1:  # the late one has only to give
                found['first'][-1] = 2
            assert found == {'first': size * [2], 'later': size * [1], 'elsewhere': size * [0]}, (size, who, call, text, said)
            assert '%s has been waiting for ' % name in said, (size, who, call, said)
    text, said = run(size, under(LIBRARY, 'tests/plain_late', 'ahead'))
    assert text == 2 * ('ahead%s\n' % (size * ' 87')), (size, text, said)
if not OPENMPI:
    text, said = run(3, under(LIBRARY, 'tests/plain_late', 'slow', RG_STALL_REPORT='0.1'))
    assert text == 'slow 0 0 0\n' and 'rg_allreduce has been waiting for ' in said, (text, said)
for call, name in [('fatal', 'MPI_Allreduce')] + ([] if OPENMPI else [('fatal window', 'MPI_Win_allocate')]):
    text, said = late(3, -1, call, fails=True)
    assert re.search(r'^regroup: %s: another .* not answered within RG_TIMEOUT' % name, said, re.M), (text, said)

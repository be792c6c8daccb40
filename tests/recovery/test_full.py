#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Deaths while the arena of the node is full: the survivors agree, shrink and go on, again and again,
with more than 50 ranks on the node too. On two pretended nodes the daemons decide. See full.c.

time: 60
beside: yes
"""
import deaths
import jobs

SMALL = dict(deaths.ENV, RG_ARENA_SIZE='1')


def test_case(case, np, dying, where=jobs.ONE, **env):
    status, text = jobs.run(np, 'tests/full', case, dying, where=where, env=dict(SMALL, **env))
    assert (status, text) == (0, 'PASSED %s\n' % case), (where.name, case, np, status, text)


for np in 2, 3, 4, 7:
    test_case('blocks', np, np - 1)
    test_case('arrays', np, np - 1)
test_case('blocks', 6, 4, jobs.TWO)
test_case('blocks', 52, 2)
test_case('replace', 5, 3, RG_RESERVE='3')

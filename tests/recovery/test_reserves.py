#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Deaths in a job with processes in reserve: of those in reserve, of those that were acquired, of
the one that acquired them, in the middle of it; the dead are replaced as long as any is left. See
reserves.c, relief.c and standby.c.

time: 120
beside: yes
"""
import re

import deaths
import jobs


def test_cases():
    for np in (4, 7) if jobs.FULL else (7,):
        for case in 'parked', 'taker', 'drawn', 'master', 'asked', 'last', 'replace':
            status, text = jobs.run(np, 'tests/reserves', case)
            assert status == 0 and text == 'PASSED %s\n' % case, (np, case, status, text)
        status, text = jobs.run(np, 'tests/reserves', 'all')
        assert deaths.is_loss(status) and 'all processes outside the reserve have died' in text, (
            np, status, text)


def test_storm(runs=5 if jobs.FULL else 2):
    """At any moment, while processes are acquired."""
    for seed in range(jobs.SEED, jobs.SEED + runs):
        status, text = jobs.run(7, 'tests/reserves', 'storm', seed)
        assert (status, text) == (0, 'PASSED storm\n'), (seed, status, text)


def test_relief():
    """The dead are replaced, with their parts of an array, and the result is the same; with
    an empty reserve the others continue."""
    expected = re.match(r'RELIEF 40 \w+ ', jobs.run(2, 'tests/relief', 1, 40, 1)[1])[0]
    for np, aside, plan, left in [(4, 2, '', 2), (4, 2, '0:5', 2), (5, 2, '1:3,0:9,2:12', 2),
                                  (6, 3, '0:7,1:7,2:20', 3), (4, 1, '0:10,1:10', 1),
                                  (7, 2, '3:0,4:1', 5)]:
        status, text = jobs.run(np, 'tests/relief', 1, 40, aside, plan)
        assert status == 0 and text == '%s%d of %d\n' % (expected, left, np - aside), (
            np, plan, status, text)
    status, text = jobs.run(3, 'tests/relief', 1, 40, 2, '0:5')
    assert deaths.is_loss(status) and 'LOST: ' in text, (status, text)


def test_standby():
    """Between two runs of a balancer."""
    for np, aside, plan, left in [(4, 1, '', 3), (4, 2, '0:1', 2), (7, 3, '1:0,2:2', 4), (4, 1, '1:0,2:1', 2)]:
        check_standby(np, aside, plan, left)
    check_standby(7, 3, '3:1', 4, where=jobs.TWO)


def check_standby(np, aside, plan, left, where=jobs.ONE):
    """21 walkers; the n-th one comes to 78 n."""
    status, text = jobs.run(np, 'tests/standby', 3, aside, plan, where=where)
    assert (status, text) == (0, 'STANDBY 3 %d %d of %d\n' % (78 * 21 * 22 // 2, left, np - aside)), (
        np, aside, plan, status, text)


test_cases()
test_storm()
test_relief()
test_standby()

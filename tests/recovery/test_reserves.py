#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Deaths in a job with processes in reserve: of those in reserve, of those that were acquired, of
the one that acquired them, in the middle of it; the dead are replaced as long as any is left. See
reserves.c and relief.c.

time: 120
beside: yes
"""
import re

import jobs


def test_cases():
    for np in 4, 7:
        for case in 'parked', 'taker', 'drawn', 'master', 'asked', 'last', 'replace':
            status, text = jobs.run(np, 'tests/reserves', case)
            assert status == 0 and text == 'PASSED %s\n' % case, (np, case, status, text)
        status, text = jobs.run(np, 'tests/reserves', 'all')
        assert status and 'all processes outside the reserve have died' in text, (np, status, text)


def test_storm(runs=5):
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
    assert status and 'LOST: ' in text, (status, text)


test_cases()
test_storm()
test_relief()

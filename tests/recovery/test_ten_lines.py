#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The guide's program needs at most ten changed lines to survive, and does so: with ranks killed
at any moment it ends with the count that it has on one rank.

time: 400
"""
import difflib
import os
import random
import re

import jobs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINES, RUNS = 10, 6


def program(name):
    """Without the comment at its top."""
    with open('%s/examples/%s/%s.c' % (ROOT, name, name)) as f:
        return re.sub(r'\A/\*.*?\*/\n', '', f.read(), flags=re.S).splitlines()


def points(name):
    text = jobs.run(1, 'bin/example-' + name, env=os.environ)[1]
    return re.fullmatch(r'(\d+) points, pi is about 3.14\d+\n', text)[1]


changed = [line for line in difflib.ndiff(program('mortal'), program('survivor')) if line[0] == '+']
assert 0 < len(changed) <= LINES, changed
expected = points('mortal')
assert points('survivor') == expected

random.seed(jobs.SEED)
for i in range(RUNS):
    np = random.choice([2, 3, 4, 6])
    status, text, killed, early = jobs.run_and_kill(np, 'bin/example-survivor', life=1)
    well = status == 0 and (expected in text or killed and not text)  # the one that prints was last
    assert well or early, (jobs.SEED, i, np, killed, status, text)

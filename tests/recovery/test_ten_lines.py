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
import subprocess
import sys

import soak

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
BIN = os.path.join(os.environ['RGT_BUILD'], 'bin', 'example-')
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINES, RUNS = 10, 6

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)


def program(name):
    """Without the comment at its top."""
    with open('%s/examples/%s/%s.c' % (ROOT, name, name)) as f:
        return re.sub(r'\A/\*.*?\*/\n', '', f.read(), flags=re.S).splitlines()


def points(name):
    done = subprocess.run([*MPIEXEC, '-n', '1', BIN + name], text=True, stdout=subprocess.PIPE,
                          timeout=200)
    return re.fullmatch(r'(\d+) points, pi is about 3.14\d+\n', done.stdout)[1]


changed = [line for line in difflib.ndiff(program('mortal'), program('survivor')) if line[0] == '+']
assert 0 < len(changed) <= LINES, changed
expected = points('mortal')
assert points('survivor') == expected

seed = int(os.environ.get('RGT_SEED', random.randrange(2**31)))
print('seed', seed)
random.seed(seed)
for i in range(RUNS):
    np, before = random.choice([2, 3, 4, 6]), set(os.listdir('/dev/shm'))
    status, text, killed = soak.one_run([*MPIEXEC, '-n', str(np), BIN + 'survivor'], soak.ENV,
                                        random.randint(1, min(3, np - 1)), 1, 200)
    well = status == 0 and (expected in text or killed and not text)  # the one that prints was last
    early = soak.is_early(status, text)
    if early:
        soak.forget_mpich_files(before)
    assert well or early, (seed, i, np, killed, status, text)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The soak for most of a minute: every run ends by itself with the right results, or, when a rank
died before rg_init had returned everywhere, with one clear error; nothing is left behind. soak.py
does the same for as long as is asked for.

time: 180
"""
import os
import random
import sys
import time

import soak

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
BUILD = os.environ['RGT_BUILD']
SECONDS = 40

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)
seed = int(os.environ.get('RGT_SEED', random.randrange(2**31)))
print('seed', seed)
random.seed(seed)
storm = soak.Soak(soak.Node(MPIEXEC), BUILD, ranks=random.sample(soak.RANKS, 2), wanted=1.2)
end, runs = time.monotonic() + SECONDS, 0
while time.monotonic() < end or (not storm.ends['well'] and runs < 100):
    wrong = storm.run(seed + runs)
    assert not wrong, (seed + runs, wrong)
    runs += 1
print(storm.report(), end='')
assert storm.ends['well'], 'no job survived'

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A storm of operations, and an example with arrays, with ranks killed at random, for most of a minute: every run ends by
itself with the right results, or, when a rank died before rg_init had returned everywhere, with
an error; nothing is left behind. soak.py does the same for as long as is asked for.

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
soak.prepare(MPIEXEC, BUILD)
end, ends = time.monotonic() + SECONDS, []
while time.monotonic() < end or ('well' not in ends and len(ends) < 100):
    how, killed, _ = soak.storm(soak.Node(MPIEXEC), BUILD, seed + len(ends))
    assert how in soak.ENDS, (seed + len(ends), killed, how)
    ends.append(how)
assert 'well' in ends, 'no job survived'

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Senders of long messages to another node are killed in the middle: who receives gets the whole
message or an error, never a damaged one. See broken.c. And one is given up as somebody else dies:
see given_up.c.

time: 60
"""
import os
import random
import subprocess
import sys

import soak

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = os.path.join(os.environ['RGT_BUILD'], 'tests', 'broken')

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)
seed = int(os.environ.get('RGT_SEED', random.randrange(2**30)))
print('seed', seed)
where = soak.Cliques(MPIEXEC)
for np, how in [(2, 'lie'), (4, 'lie')] + [(8, str(seed + i)) for i in range(10)]:
    done = subprocess.run([*MPIEXEC, '-n', str(np), PROGRAM, how], env=dict(soak.ENV, **where.env),
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
    assert done.returncode == 0 and 'RESULT %d\n' % (np // 2) in done.stdout, (np, how, done)
GIVEN_UP = os.path.join(os.environ['RGT_BUILD'], 'tests', 'given_up')
for how in [[], ['collective']]:
    done = subprocess.run([*MPIEXEC, '-n', '3', GIVEN_UP, *how], env=soak.ENV, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
    assert done.returncode == 0 and 'RESULT\n' in done.stdout, (how, done)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Deaths in a job with processes in reserve: of those that sleep, of those that were drawn, of
who drew them, in the middle of a draw; the dead are replaced as long as there is somebody. See
reserves.c.

time: 120
"""
import os
import subprocess
import sys

import soak

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = os.path.join(os.environ['RGT_BUILD'], 'tests', 'reserves')

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)


def run(np, case):
    done = subprocess.run([*MPIEXEC, '-n', str(np), PROGRAM, case], env=soak.ENV, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout


for np in 4, 7:
    for case in 'parked', 'taker', 'drawn', 'master', 'replace':
        status, text = run(np, case)
        assert status == 0 and text == 'PASSED %s\n' % case, (np, case, status, text)
    status, text = run(np, 'all')
    assert status and 'all processes outside the reserve have died' in text, (np, status, text)

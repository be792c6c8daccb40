#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Arrays that span two pretended nodes when all ranks of one are killed, also in the middle of an
rg_array_sync, or one of them. See mirrored.c.

time: 180
"""
import os
import re
import subprocess
import sys

import soak

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = os.path.join(os.environ['RGT_BUILD'], 'tests', 'mirrored')
ENV = dict(soak.ENV, MPIR_CVAR_NUM_CLIQUES='2')

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)

for np in 2, 3, 4, 7:
    for how in 'all', 'one', 'unmirrored', 'during', 'during', 'during':
        done = subprocess.run([*MPIEXEC, '-n', str(np), PROGRAM, how], env=ENV, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        kept = re.search(r'^KEPT (\d+)$', done.stdout, re.M)
        assert done.returncode == 0 and kept, (np, how, done.returncode, done.stdout)
        assert int(kept[1]) == np - 1 if how == 'one' else 1 <= int(kept[1]) < np, (np, how, kept)

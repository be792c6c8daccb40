#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""With libregroup-mpi.so a put that has been flushed comes before the get that follows it. See
plain_window_order.c: without a fence some of its rounds are lost where two processors are free.

time: 60
beside: yes
"""
import os
import subprocess
import sys

BUILD = os.environ['RGT_BUILD']
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
LIBRARY = os.path.abspath(BUILD + '/lib/libregroup-mpi.so')
if 'san' in os.path.basename(BUILD) or 'openmpi' in MPIEXEC[0]:
    print('a program would have to be linked with the sanitizer; Open MPI serves its windows itself')
    sys.exit(77)

for flush in '0', '1', '0', '1':
    done = subprocess.run(['timeout', '60', *MPIEXEC, '-n', '2', 'env', 'LD_PRELOAD=' + LIBRARY,
                           BUILD + '/tests/plain_window_order', flush], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, 'lost 0 0\n'), (flush, done)

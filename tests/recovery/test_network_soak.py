#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""40 seconds of the soak with faults of the network (network_soak.py).

tier: all
time: 150
"""
import os
import sys

import jobs

SOAK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'network_soak.py')
sys.exit(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, SOAK, '--build', jobs.BUILD, '--seconds',
                                               '40', '--seed', str(jobs.SEED)]))

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Each program of the soak under Slurm (slurm_soak.py) once: a node is lost at a random moment.

tier: all
time: 120
"""
import os
import sys

import jobs

SOAK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'slurm_soak.py')
sys.exit(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, SOAK, '--build', jobs.BUILD, '--runs', '3',
                                               '--short', '--seed', str(jobs.SEED)]))

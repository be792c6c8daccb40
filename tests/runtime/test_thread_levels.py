#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The library works at the lower thread levels of MPI too; the test programs
themselves run with MPI_THREAD_MULTIPLE.

tier: quick
time: 240
beside: yes
"""
import os
import re
import subprocess
import sys

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAMS = ['test_regroup', 'test_comm_create_group']
LEVELS = ['single', 'funneled', 'serialized']
RANKS = '3'


def run(name, level):
    """Returns what went wrong, or None."""
    program = os.path.join(os.environ['RGT_BUILD'], 'tests', name)
    done = subprocess.run([*MPIEXEC, '-n', RANKS, program], env=dict(os.environ, RGT_THREADS=level),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0 and re.search(r'^RGT \S+ tests=[1-9]\d* failed=0$', done.stdout, re.M):
        return None
    return '%s with MPI_THREAD_%s: status %d\n%s' % (name, level.upper(), done.returncode,
                                                     done.stdout)


wrong = [text for name in PROGRAMS for level in LEVELS for text in [run(name, level)] if text]
print('\n'.join(wrong))
sys.exit(1 if wrong else 0)

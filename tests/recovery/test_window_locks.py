#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A rank is killed with the lock of a window that libregroup-mpi.so serves: nobody waits for ever.
See window_locks.c.

beside: yes
time: 60
"""
import os
import re
import sys

import deaths
import jobs

if 'san' in os.path.basename(jobs.BUILD):
    print('a program would have to be linked with the sanitizer')
    sys.exit(77)

LIBRARY = os.path.abspath(jobs.BUILD + '/lib/libregroup-mpi.so')

for np in [2, 3, 4, 7]:
    for kind in ['exclusive', 'shared']:
        words = [*jobs.ONE.begin(np), '-genv', 'LD_PRELOAD', LIBRARY, '-n', str(np),
                 jobs.path('tests/window_locks'), kind]
        status, text = jobs.output(words, deaths.ENV, 60)
        assert status == 0 and len(re.findall('^wrong 0$', text, re.M)) == np - 1, (np, kind, status, text)

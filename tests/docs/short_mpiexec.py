#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""mpiexec as test_docs.py puts it into PATH: fewer ranks, and shorter runs of
the programs that measure. DOCS_MPIEXEC is the real one, DOCS_SECONDS the time that a job has."""
import os
import sys

MOST_RANKS, MOST_PHASES = 8, 5000
SECONDS = '1' if os.environ.get('RGT_TIER', 'all') == 'all' else '0.1'
SHORTER = {'regroup-bench': ['--time-limit', SECONDS], 'regroup-mcmc': ['--time-scale', '0.01']}

args = sys.argv[1:]
for i, arg in enumerate(args[:-1]):
    if arg in ('-n', '-np'):
        args[i + 1] = str(min(int(args[i + 1]), MOST_RANKS))
        break
if '--phases' in args:  # of example-recover, of which a user has the time to kill a rank by hand
    at = args.index('--phases') + 1
    args[at] = str(min(int(args[at]), MOST_PHASES))
for arg in list(args):
    args += SHORTER.get(os.path.basename(arg), [])
command = ['timeout', os.environ['DOCS_SECONDS'], *os.environ['DOCS_MPIEXEC'].split(), *args]
os.execvp(command[0], command)

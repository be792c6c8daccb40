#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Accesses of other ranks' elements on two pretended nodes that are under way when ranks are
killed, one or all of a node: each ends, and what was written is there wherever somebody lives on
the node. See accesses.c.

time: 60
"""
import os
import re
import subprocess
import sys

import soak

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = os.path.join(os.environ['RGT_BUILD'], 'tests', 'accesses')
ENV = dict(soak.ENV, MPIR_CVAR_NUM_CLIQUES='2')
SEED = int(os.environ.get('RGT_SEED', '1'))

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)


def storm(np, how, who, seed):
    done = subprocess.run([*MPIEXEC, '-n', str(np), PROGRAM, how, who, str(seed)], env=ENV,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    left = re.search(r'^SURVIVED (\d+)$', done.stdout, re.M)
    assert done.returncode == 0 and left, (np, how, who, seed, done.returncode, done.stdout)
    assert 1 <= int(left[1]) < np, (np, how, who, seed, left[1])


def same_as_ever(np, test):
    """What holds of one-sided operations does so, too, when guardians serve them."""
    done = subprocess.run([*MPIEXEC, '-n', str(np), os.path.join(os.environ['RGT_BUILD'], 'tests',
                                                                 test)],
                          env=ENV, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=150)
    assert done.returncode == 0 and ' failed=0' in done.stdout, (np, test, done.stdout)


print('seed', SEED)
for how in 'put', 'get', 'acc', 'real', 'inc', 'swap', 'elements', 'request', 'fence':
    storm(4, how, 'one' if how in ('inc', 'elements', 'request', 'real') else 'node', SEED)
for np in 2, 3, 6:
    storm(np, 'all', 'node', SEED)
    storm(np, 'all', 'three', SEED + 1)
same_as_ever(3, 'test_engine')
same_as_ever(3, 'test_onesided_nodes')

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The engine's tests on two and three pretended nodes, with TCP between them; also within
RG_TIMEOUT, with the progress thread, and with settings of ARMCI's that a user may have made.

time: 240
beside: yes
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'cluster'))
import cluster  # noqa: E402

FULL = os.environ.get('RGT_TIER', 'all') == 'all'
TESTS = os.path.join(ROOT, os.environ.get('RGT_BUILD', 'build'), 'tests')


def run(nodes, np, per_node, placement='block', program='test_engine', **env):
    command = nodes.mpiexec(np, per_node, placement) + [os.path.join(TESTS, program)]
    status, text = nodes.run(command, 60, env=dict(os.environ, **env))
    print(np, per_node, placement, program, env, 'status', status)
    assert status == 0, text


if 'openmpi' in os.environ.get('RGT_MPIEXEC', ''):
    print('only for MPICH')
    sys.exit(77)
try:
    with cluster.Nodes(2) as pair:
        run(pair, 3, 2, 'cyclic', RG_PROGRESS_THREAD='1')
        if FULL:
            run(pair, 2, 1)
            run(pair, 4, 2, RG_TIMEOUT='60')
            run(pair, 2, 1, ARMCI_RMA_ATOMICITY='1', ARMCI_IOV_METHOD='CONSRV')
        run(pair, 3, 2, program='test_engine_progress', RG_PROGRESS_THREAD='1', RG_TIMEOUT='60')
    if FULL:
        with cluster.Nodes(3) as three:
            run(three, 4, 2, 'cyclic')
except cluster.Unavailable as why:
    print(why)
    sys.exit(77)

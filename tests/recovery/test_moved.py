#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What nodes with networks of their own receive when one of them is lost: the copies of that node's
walkers, and not those of all. See moved.c.

time: 60
"""
import re
import sys

import deaths
import jobs
from deaths import cluster

NODES, MIB, UNITS = 4, 1, 4


def test_moved(nodes):
    where = deaths.Namespaces(jobs.MPIEXEC, nodes)
    env = dict(deaths.ENV, **where.env)
    env['UCX_NET_DEVICES'] = 'eth0'
    # A copy comes when it is received. UCX 1.18 would send 1 MiB ahead: also the ends of walkers,
    # which are received after the count, and copies that are given up.
    env['UCX_RNDV_THRESH'] = '16k'
    status, text = jobs.output(jobs.command(where, NODES, 'tests/moved', MIB), env)
    moved = [int(n) / 2**20 for n in re.findall(r'^MOVED (\d+)$', text, re.M)]
    gathered = [int(n) / 2**20 for n in re.findall(r'^GATHERED (\d+)$', text, re.M)]
    assert status == 0 and len(moved) == NODES - 1 and len(gathered) == 1, (status, text)
    # The lost node had a walker and the outcomes of its units, and copies of as many. The others may
    # have finished their unit: a walker and an outcome, of which there is no copy yet.
    assert sum(moved) < 1.1 * MIB * (2 * UNITS + 2 * (NODES - 1)), moved
    assert gathered[0] < 1.1 * MIB * (UNITS + 1) * NODES, gathered


try:
    with cluster.Nodes(NODES, network=True) as four:
        test_moved(four)
except cluster.Unavailable as reason:
    print(reason)
    sys.exit(77)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The cable between two nodes is cut amid accesses of each other's elements: after RG_NODE_TIMEOUT
each half takes the other one for dead, all accesses end, and both come to the end. mpiexec
ends when the cable is back. See accesses.c.

time: 40
"""
import os
import sys

import deaths
import jobs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cluster'))
import cluster  # noqa: E402


def wait_for_line(job, line):
    text = ''
    for said in job.stdout:
        text += said
        if said == line:
            return
    raise AssertionError('ended without %r: %s' % (line, text))


def test_cut(nodes, how):
    words = nodes.mpiexec(4, per_node=2) + [jobs.path('tests/accesses'), how, 'none', str(jobs.SEED)]
    job = nodes.start(words, dict(deaths.ENV, RG_NODE_TIMEOUT='2', RG_OVERSUBSCRIBED='yes'),
                      **deaths.READ)
    wait_for_line(job, 'STORM\n')
    nodes.cable(1, 'down')
    wait_for_line(job, 'SURVIVED 2\n')
    nodes.cable(1, 'up')
    status, text = jobs.end_of(job)
    assert status == 0 and text == 'SURVIVED 2\n', (how, status, text)


try:
    with cluster.Nodes(2, network=True) as two:
        for way in sys.argv[1:] or ['all']:
            test_cut(two, way)
except cluster.Unavailable as reason:
    print(reason)
    sys.exit(77)

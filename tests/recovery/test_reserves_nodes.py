#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""As test_reserves.py, on two and three nodes, each of which has the reserve's entries of its
processes: pretended nodes of MPI's, and, where this machine permits it, ones with namespaces of
their own. Deaths of those in reserve, acquired or acquiring; the dead are replaced, with their parts
of a mirrored array, also where all of a node's die. See reserves.c and relief.c.

time: 60
beside: yes
"""
import re

import deaths
import jobs


def test_cases(where, np, *cases):
    for case in cases:
        status, text = jobs.run(np, 'tests/reserves', case, where=where)
        assert (status, text) == (0, 'PASSED %s\n' % case), (where.name, np, case, status, text)
    for case in 'all', 'lost':
        status, text = jobs.run(np, 'tests/reserves', case, where=where)
        assert deaths.is_loss(status) and 'all processes outside the reserve have died' in text, (
            where.name, np, case, status, text)


def test_storm(where, np, runs):
    """At any moment, while processes are acquired."""
    for seed in range(jobs.SEED, jobs.SEED + runs):
        status, text = jobs.run(np, 'tests/reserves', 'storm', seed, where=where)
        assert (status, text) == (0, 'PASSED storm\n'), (where.name, np, seed, status, text)


def test_relief(where, *plans):
    expected = re.match(r'RELIEF 24 \w+ ', jobs.run(2, 'tests/relief', 1, 24, 1)[1])[0]
    for np, aside, plan, left in plans:
        status, text = jobs.run(np, 'tests/relief', 1, 24, aside, plan, where=where)
        assert (status, text) == (0, '%s%d of %d\n' % (expected, left, np - aside)), (
            where.name, np, plan, status, text)


def test_node(where):
    """All that work on one node die at once, more than there are in reserve."""
    where.begin(7)
    gone = [r for r in range(5) if where.node_of(r) == 0]
    plan = ','.join('%d:6' % r for r in gone)
    status, text = jobs.run(7, 'tests/relief', 1, 24, 2, plan, where=where)
    assert status == 0 and ' %d of 5\n' % (5 - len(gone)) in text, (where.name, plan, status, text)


with deaths.nodes_of('cliques', jobs.MPIEXEC) as nodes:
    test_cases(nodes, 6, 'parked', 'taker', 'drawn', 'master', 'asked', 'last', 'replace')
    test_storm(nodes, 7, 5 if jobs.FULL else 1)
    test_relief(nodes, (5, 3, '', 2), (6, 3, '1:3,0:9,2:12', 3), (6, 2, '1:3,0:9,2:12', 3),
                (7, 4, '0:7,1:7,2:20', 3), (6, 2, '0:7,2:7', 4), (8, 3, '3:0,4:1', 5))
    test_node(nodes)
with deaths.nodes_of('cliques', jobs.MPIEXEC, 3) as nodes:
    test_cases(nodes, 7, 'taker', 'last')
    test_storm(nodes, 7, 3 if jobs.FULL else 1)
try:
    with deaths.nodes_of('namespaces', jobs.MPIEXEC) as nodes:
        test_cases(nodes, 7, 'master', 'last')
        test_storm(nodes, 6, 2)
        test_relief(nodes, (6, 3, '1:3,0:9,2:12', 3))
        test_node(nodes)
except deaths.cluster.Unavailable as why:
    print('without namespaces: %s' % why)

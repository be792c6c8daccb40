#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""As test_reserves.py, on two nodes, where the last process holds the reserve directory and is never
drawn: pretended nodes of MPI's, and, where this machine permits it, ones with namespaces of their
own. Deaths of those in reserve, acquired or acquiring, of the holder of the directory; the dead are
replaced, with their parts of a mirrored array, also where all of a node's die. See reserves.c and
relief.c.

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
    for case in 'all', 'failover':
        status, text = jobs.run(np, 'tests/reserves', case, where=where)
        assert status and 'all processes outside the reserve have died' in text, (
            where.name, np, case, status, text)


def test_relief(where, *plans):
    expected = re.match(r'RELIEF 24 \w+ ', jobs.run(2, 'tests/relief', 1, 24, 1)[1])[0]
    for np, aside, plan, left in plans:
        status, text = jobs.run(np, 'tests/relief', 1, 24, aside, plan, where=where)
        assert (status, text) == (0, '%s%d of %d\n' % (expected, left, np - aside)), (
            where.name, np, plan, status, text)


def test_node(where):
    """All that work on one node die at once, more than there are in reserve."""
    where.begin(8)
    gone = [r for r in range(5) if where.node_of(r) == 0]
    plan = ','.join('%d:6' % r for r in gone)
    status, text = jobs.run(8, 'tests/relief', 1, 24, 3, plan, where=where)
    assert status == 0 and ' %d of 5\n' % (5 - len(gone)) in text, (where.name, plan, status, text)


with deaths.nodes_of('cliques', jobs.MPIEXEC) as nodes:
    test_cases(nodes, 6, 'parked', 'taker', 'drawn', 'master', 'asked', 'directory', 'replace')
    test_relief(nodes, (5, 3, '', 2), (6, 3, '1:3,0:9,2:12', 2), (7, 4, '0:7,1:7,2:20', 3),
                (6, 2, '0:7,2:7', 2), (8, 3, '3:0,4:1', 5))
    test_node(nodes)
try:
    with deaths.nodes_of('namespaces', jobs.MPIEXEC) as nodes:
        test_cases(nodes, 7, 'master', 'directory')
        test_relief(nodes, (6, 3, '1:3,0:9,2:12', 2))
        test_node(nodes)
except deaths.cluster.Unavailable as why:
    print('without namespaces: %s' % why)

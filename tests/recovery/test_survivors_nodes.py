#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Ranks on two nodes and on four are killed, also all of one node at once: those on the others
notice, agree and go on with the right results; the exit status tells the truth. The nodes are
pretended ones of MPI's, and, where this machine permits it, ones with namespaces of their own, and
of Slurm.
See survivors.c, bystanders.c and comm_again.c; test_storm.py and soak.py kill at random there.

time: 300
beside: yes
"""
import re

import deaths
import jobs

PROGRAM = 'tests/survivors'


def whole_node(where, np, node, at):
    """A plan by which all ranks of a node kill themselves when they have done so many rounds."""
    return ','.join('%d:%d' % (r, at) for r in range(np) if where.node_of(r) == node)


def test_plans(where, plans):
    for np, plan, left in plans:
        status, text = jobs.run(np, PROGRAM, plan, 200, where=where)
        found = re.search(r'^RESULT 200 (\d+) (\d+) ', text, re.M)
        assert status == 0 and found, (where.name, np, plan, status, text)
        assert (int(found[1]), int(found[2])) == (left, np - left), (where.name, np, plan, text)


def test_two(where):
    where.begin(6)
    test_plans(where, [(2, '1:5', 1), (4, '1:30', 3), (4, '0:30,3:30', 2), (5, '3:40,0:41,1:90', 2),
                       (7, '0:9,1:9,2:9,3:9,4:9,5:9', 1), (6, whole_node(where, 6, 0, 30), 3),
                       (6, whole_node(where, 6, 1, 30), 3)])


def test_four(where):
    """The root of agreements is on the first node, and then on the next one that lives."""
    where.begin(8)
    nodes = [whole_node(where, 8, node, 30 + node) for node in range(4)]
    test_plans(where, [(4, '0:20,1:23,2:26', 1), (8, nodes[0], 6), (8, nodes[3], 6),
                       (8, nodes[0] + ',' + nodes[1], 4), (8, nodes[1] + ',' + nodes[2], 4)])


def test_no_process_left(where):
    status, text = jobs.run(3, PROGRAM, '0:5,1:40,2:80', 300, where=where)
    assert deaths.is_loss(status) and 'no process is left' in text, (where.name, status, text)


def test_bystanders(where):
    """Groups without the dead see nothing of it."""
    status, text = jobs.run(7, 'tests/bystanders', where=where)
    assert status == 0 and 'MERGED 6\n' in text, (where.name, status, text)


def test_communicator(where):
    """rg_group_comm of the survivors."""
    for np, dead in [(3, '1'), (6, '0 1'), (6, '0 2 4'), (6, '0 1 2'), (8, '1 3 6')]:
        status, text = jobs.run(np, 'tests/comm_again', *dead.split(), where=where)
        well = 'COMM %d\n' % (np - len(dead.split())) in text
        assert status == 0 and well, (where.name, np, dead, status, text)


def test_all(kind):
    with deaths.nodes_of(kind, jobs.MPIEXEC) as where:
        test_two(where)
        test_no_process_left(where)
        test_bystanders(where)
        test_communicator(where)
    if jobs.FULL:
        with deaths.nodes_of(kind, jobs.MPIEXEC, 4) as where:
            test_four(where)


def test_where_permitted(kind, test):
    try:
        test(kind)
    except deaths.cluster.Unavailable as why:
        print('not on %s: %s' % (kind, why))


def test_slurm(kind):
    with deaths.nodes_of(kind, jobs.MPIEXEC) as where:
        test_two(where)
        test_no_process_left(where)
        test_bystanders(where)


test_all('cliques')
test_where_permitted('namespaces', test_all)
test_where_permitted('slurm', test_slurm)

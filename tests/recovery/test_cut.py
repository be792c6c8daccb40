#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Paths between two and three nodes are cut, and daemons stopped, for less than RG_NODE_TIMEOUT, which
costs nothing, and for longer, which costs one side: of two nodes the second one, or the one that does
not get the witness; of a path among three one of its ends; a node that all others do not hear. What
was given up ends with a line and a status of its own when mpiexec hears of it, and there is never a
second world. See worlds.py, and accesses.c for accesses that are under way.

time: 120
"""
import contextlib
import os
import subprocess
import sys
import tempfile

import deaths
import jobs
import worlds
from worlds import FOR_GOOD, Fault

cluster = deaths.cluster
LIMIT = 2
LATE = 3 * LIMIT + 2  # seconds after which what is silent has been given up


def play(nodes, plan, lost, env=(), seconds=LIMIT + 2, soon=False, each=2, may_hold=True):
    """lost: the nodes, or how many."""
    run = worlds.Run(nodes, jobs.path('tests/worlds'), each, LIMIT, seconds, plan, env, soon)
    run.may_hold = may_hold
    wrong = run.play()
    assert not wrong, wrong
    assert lost in (run.lost(), len(run.lost())), (list(map(str, plan)), run.lost(), run.text)
    return run


def wait_for_line(job, line):
    text = ''
    for said in job.stdout:
        text += said
        if said == line:
            return
    raise AssertionError('ended without %r: %s' % (line, text))


def test_accesses(nodes):
    """All that are under way between two halves end; the half with the lowest node goes on."""
    words = nodes.mpiexec(4, per_node=2) + ['-disable-auto-cleanup', jobs.path('tests/accesses'), 'all',
                                            'none', str(jobs.SEED)]
    job = nodes.start(words, dict(deaths.ENV, RG_NODE_TIMEOUT=str(LIMIT), RG_OVERSUBSCRIBED='yes'),
                      **deaths.READ)
    wait_for_line(job, 'STORM\n')
    nodes.cable(1, 'down')
    wait_for_line(job, 'SURVIVED 2\n')
    nodes.cable(1, 'up')
    status, text = jobs.end_of(job)
    assert status == worlds.GIVEN_UP and 'SURVIVED' not in text, (status, text)
    assert len(worlds.own_lines(text)) == 1, text


@contextlib.contextmanager
def hidden_from(node, folder):
    """There the folder is empty, and cannot be written to."""
    enter = [*node.enter, cluster.tool('nsenter'), '--target', str(node.nodes[0].pid), '--mount', '--']
    subprocess.run([*enter, 'mount', '-t', 'tmpfs', '-o', 'ro', 'tmpfs', folder], check=True)
    yield
    subprocess.run([*enter, 'umount', folder], check=True)


def test_witness(nodes):
    """It decides between two halves: any one, but for the one that cannot reach it."""
    cut = [Fault('cut halves', 1, nodes=[1])]
    with tempfile.TemporaryDirectory(prefix='witness-') as folder:
        play(nodes, cut, 1, {'RG_WITNESS': os.path.join(folder, 'any')})
        with hidden_from(nodes, folder):
            play(nodes, cut, {0}, {'RG_WITNESS': os.path.join(folder, 'second')})


def test_two(nodes):
    play(nodes, [Fault('cut halves', 1, 0.5 * LIMIT, [1])], set())
    play(nodes, [Fault('cut halves', 1, FOR_GOOD, [1], hub=True)], {1})
    play(nodes, [Fault('power off', 1, nodes=[1])], {1})


def test_soon(nodes):
    """The others have ended when the network is whole again: that they cannot be reached any more, as
    no process listens there, is no reason to go on without them."""
    cut, stop = Fault('cut halves', 1, FOR_GOOD, [1]), Fault('stop daemon', 1, FOR_GOOD, [1])
    for plan in [[cut], [cut, stop]]:
        play(nodes, plan, {1}, seconds=1.5, soon=True)


def test_short(nodes):
    """Each of these is over before the limit: nothing is lost."""
    for plan in [[Fault('cut path', 1, 0.5 * LIMIT, [0, 2])],
                 [Fault('cut all', 1, 0.5 * LIMIT, hub=True)],
                 [Fault('cut node', 1, 0.5 * LIMIT, [1])],
                 [Fault('stop daemon', 1, 0.5 * LIMIT, [0]), Fault('stop guard', 1, 8, [1])]]:
        play(nodes, plan, set())


def test_long(nodes):
    play(nodes, [Fault('cut path', 1, FOR_GOOD, [0, 2])], 1)
    play(nodes, [Fault('cut path', 1, LATE, [1, 2])], 1, seconds=LATE + 2)
    play(nodes, [Fault('cut node', 1, FOR_GOOD, [0], hub=True)], {0})
    play(nodes, [Fault('cut node', 1, LATE, [2])], {2}, seconds=LATE + 2)


def test_patience(nodes):
    """While a node is silent the others may wait for it for longer than RG_PATIENCE: that is no end."""
    play(nodes, [Fault('cut node', 1, FOR_GOOD, [1], hub=True)], {1},
         {'RG_PATIENCE': str(0.9 * LIMIT)})


def test_stopped(nodes):
    """A daemon that goes on when it has been given up ends its ranks at once."""
    play(nodes, [Fault('stop daemon', 1, LATE, [1])], {1})
    play(nodes, [Fault('suspend', 1, LATE, [0])], {0})


def test_stopped_for_good(nodes):
    """The ranks of a daemon that is stopped end when the other nodes have given the node up."""
    for each, node in [(2, 0), (1, 2)]:
        play(nodes, [Fault('stop daemon', 1, FOR_GOOD, [node])], {node}, each=each, may_hold=False)


def test_proven(nodes):
    """Daemons whose hosts live need no majority: of four nodes the last one goes on."""
    kills = [Fault('kill daemon', 2.87, nodes=[3]), Fault('kill daemon', 2.98, nodes=[2]),
             Fault('kill daemon', 2.95, nodes=[1])]
    play(nodes, kills, {1, 2, 3}, seconds=4)


def test_no_majority(nodes):
    """Where no node hears another one nothing goes on; each says why."""
    play(nodes, [Fault('cut all', 1, FOR_GOOD)], {0, 1, 2})


SAMPLE = [test_accesses, test_two, test_stopped, test_no_majority]
TESTS = {2: [test_accesses, test_two, test_soon, test_witness],
         3: [test_short, test_long, test_patience, test_stopped, test_stopped_for_good, test_no_majority],
         4: [test_proven]}
try:
    for count, tests in TESTS.items():
        with cluster.Nodes(count, network=True) as made:
            for test in tests:
                if test.__name__ in sys.argv[1:] or not sys.argv[1:] and (jobs.FULL or test in SAMPLE):
                    test(made)
except cluster.Unavailable as reason:
    print(reason)
    sys.exit(77)

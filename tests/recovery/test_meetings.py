#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Walkers that meet have the same results whichever ranks are killed, and when: in a unit, in a meeting,
while its results become valid, at any moment; on one node and on several. See meetings.c.

time: 300
beside: yes
"""
import random
import re

import deaths
import jobs

PROGRAM = 'tests/meetings'
POLICIES = ['share-out:cost=0', 'none', 'join-right', 'release:gain=0.5', 'sync:i=2', 'share-out:i=1']
RUNS, MOST, MOVES = 6 if jobs.FULL else 2, 80, 30
NODES = [jobs.TWO, deaths.Cliques(jobs.MPIEXEC, 4)] if jobs.OVER_UCX else []


def run_counted(np, policy, walkers, seed, plan, *alike, where=jobs.ONE):
    """Returns how many ranks have died, and how many walkers have missed others."""
    status, text = jobs.run(np, PROGRAM, policy, walkers, seed, plan, *alike, where=where)
    found = re.search(r'^RESULT \d+ \d+ (\d+) (\d+)$', text, re.M)
    assert status == 0 and found, (where.env, np, policy, walkers, seed, plan, alike, status, text)
    return int(found[1]), int(found[2])


def run(*args, where=jobs.ONE):
    """Returns how many ranks have died."""
    died, missed = run_counted(*args, where=where)
    assert missed == 0, (where.env, args, missed)
    return died


def test_undisturbed():
    for where in jobs.ONE, *NODES:
        for policy in 'share-out', 'sync:i=2':
            assert run(4, policy, 12, 1, '', where=where) == 0


def test_moves():
    """Walkers that go from node to node, while copies of them are on the way."""
    for seed in range(MOVES):
        assert run(4, 'share-out:cost=0', 20, 946 + seed % 2, '', where=jobs.SURVIVED[-1]) == 0


def test_meeting():
    """In a meeting, before anything has become valid, and after some of it."""
    died = 0
    for policy in 'none', 'sync:i=1':
        for plan in '0:m1', '1:m3', '2:s1', '1:s2', '2:s2', '0:s3', '1:s4', '0:s2,1:s2':
            died += run(3, policy, 16, 2, plan)
    assert died >= 8, died


def test_nodes(seed):
    """All of a node about at once; the leader of a node in a meeting."""
    random.seed(seed)
    for i, policy in enumerate(POLICIES):
        where, lost, at = NODES[0], random.randrange(2), random.randrange(5, MOST)
        plan = ','.join('%d:%d' % (r, at + random.choice([0, 0, 3])) for r in range(4)
                        if where.node_of(r) == lost)
        run(4, policy, 16, seed % 1000 + i, plan, where=where)
        run(4, policy, 16, seed % 1000 + i, '%d:s%d' % (i % 4, 1 + i % 3), where=NODES[i % 2])


def test_buddies(seed):
    """In a meeting a node of four and another one, which has its copies or not, at once: each walker
    has its result, or has missed one that is ahead of it or behind it; all survivors get that error. Returns how many
    missed one, which depends on the moment."""
    random.seed(seed)
    where, died, missed = NODES[1], 0, 0
    for i, policy in enumerate(2 * POLICIES):
        np, first = random.choice([4, 4, 8]), random.randrange(4)
        lost = first, (first + 1 + i % 3) % 4
        plan = ','.join('%d:d%d' % (r, 2 + i % 5) for r in range(np) if where.node_of(r) in lost)
        counts = run_counted(np, policy, 24, seed % 1000 + i, plan, where=where)
        died, missed = died + counts[0], missed + counts[1]
    assert died >= 16, died
    return missed


def test_calls(seed, nodes):
    """In any callback; one to three ranks."""
    random.seed(seed)
    for i in range(RUNS):
        where, np = random.choice(nodes), random.choice([4, 6] if len(nodes) > 1 else [2, 3, 4, 6])
        ranks = random.sample(range(np), random.randint(1, min(3, np - 1)))
        if len(nodes) > 1:  # two nodes at once may lose a meeting and its copy
            ranks = ranks[:1]
        plan = ','.join('%d:%d' % (r, random.randrange(MOST)) for r in ranks)
        run(np, POLICIES[i % len(POLICIES)], random.randint(2, 24), random.randrange(1000), plan,
            *random.choice([[], ['alike']]), where=where)


def test_moments(seed):
    """From outside, at any moment."""
    random.seed(seed)
    for i in range(RUNS):
        np, policy = random.choice([2, 3, 4, 6]), POLICIES[i % len(POLICIES)]
        status, text, killed, early = jobs.run_and_kill(np, PROGRAM, policy, 24, seed % 1000 + i, '',
                                                        life=0.3 + 0.1 * np)
        well = status == 0 and re.search(r'^RESULT \d+ \d+ \d+', text, re.M)
        assert well or early, (seed, i, np, policy, killed, status, text)


test_undisturbed()
test_moves()
test_meeting()
if NODES:
    test_nodes(jobs.SEED)
    assert any(test_buddies(jobs.SEED + i) for i in range(4)), 'no walker has missed another one'
for nodes in filter(None, ([jobs.ONE], NODES)):
    test_calls(jobs.SEED, nodes)
test_moments(jobs.SEED)

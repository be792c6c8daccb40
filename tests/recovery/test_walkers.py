#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Balancing survives deaths: whichever ranks are killed, when, and under whatever policy, each walker ends
once with its own result; on one node and on several, which MPI pretends to have, also when one is
lost as a whole. See walkers.c, kept.c and soak.py.

time: 400
beside: yes
"""
import os
import random
import re
import tempfile

import deaths
from deaths import cluster
import jobs

PROGRAM = 'tests/walkers'
POLICIES = ['none', 'join-right', 'most-work', 'share-out:cost=0', 'release:gain=0.5', 'sync:i=2',
            'share-out:i=1', 'release:i=2,gain=1']
RUNS, MOST = 8 if jobs.FULL else 2, 60
NODES = [jobs.TWO, deaths.Cliques(jobs.MPIEXEC, 4)] if jobs.OVER_UCX else []


def run(np, policy, seed, plan, *alike, env=deaths.ENV, where=jobs.ONE):
    status, text = jobs.run(np, PROGRAM, policy, 12, seed, plan, *alike, env=env, where=where)
    found = re.search(r'^RESULT \d+ (\d+) (\d+) ', text, re.M)
    assert status == 0 and found, (where.env, np, policy, seed, plan, alike, status, text)
    return int(found[2])


def test_undisturbed():
    assert run(3, 'share-out', 1, '') == 0
    assert run(3, 'share-out', 1, '', env=dict(os.environ)) == 0


def test_first_and_last():
    """The first rank, a leader; all of a group; all but one."""
    for policy in 'share-out:cost=0', 'sync:i=2':
        run(4, policy, 1, '0:3')
        run(4, policy, 1, '2:9,3:9')
        run(4, policy, 1, '1:2,2:20,3:9')


def test_limits(seed):
    """Walkers that need two processes, or can use one or two: a group that loses members gets others before it
    goes on. Two processes live at least."""
    random.seed(seed)
    for policy in 'share-out:cost=0', 'sync:i=2':
        assert run(4, policy, 1, '', 'limits') == 0
    died = 0
    for i, policy in enumerate(POLICIES):
        np = random.choice([3, 4, 6])
        plan = ','.join('%d:%d' % (r, random.randrange(2, MOST))
                        for r in random.sample(range(np), random.randint(1, np - 2)))
        died += run(np, policy, seed % 1000 + i, plan, *random.choice([[], ['alike']]), 'limits')
    assert died > 0


def test_nodes(seed):
    """All of a node at the same call or about then, under every policy; two of four nodes."""
    random.seed(seed)
    for policy in POLICIES:
        where, lost = NODES[0], random.randrange(2)
        np, at = random.choice([2, 4, 6]), random.randrange(5, MOST)
        plan = ','.join('%d:%d' % (r, at + random.choice([0, 0, 3])) for r in range(np)
                        if where.node_of(r) == lost)
        run(np, policy, random.randrange(1000), plan, *random.choice([[], ['alike']]), where=where)
    for policy in 'share-out:cost=0', 'sync:i=2':
        assert run(8, policy, 1, '', where=NODES[1]) == 0
        run(8, policy, 1, '1:9,5:9,2:20,6:21', where=NODES[1])


def test_kept():
    """The walker continues from the copy on the other node, and does not begin again."""
    check_kept(*jobs.run(2, 'tests/kept', where=jobs.TWO))


def check_kept(status, text):
    found = re.search(r'^KEPT (\d+)$', text, re.M)
    assert status == 0 and found and int(found[1]) > 0, (status, text)


def test_domains():
    """Two nodes of four, which are a failure domain, are lost at once: the copies are in the other one."""
    try:
        with tempfile.NamedTemporaryFile('w') as file, cluster.Nodes(4) as four:
            file.write(''.join('node%d %s\n' % (i, 'ab'[i // 2]) for i in range(4)))
            file.flush()
            check_kept(*jobs.run(4, 'tests/kept', where=deaths.Namespaces(jobs.MPIEXEC, four),
                                 env=dict(deaths.ENV, RG_DOMAINS=file.name)))
    except cluster.Unavailable as reason:
        print(reason)


def expect_deaths(counts, *plan, where):
    """On a busy machine the others may have done all work before a rank is in its so manieth callback."""
    assert any(run(*plan, where=where) in counts for _ in range(5)), plan


def test_exchange():
    """In each step of what the nodes exchange after a death: a node that has the newest versions is
    lost as a whole, or the process that speaks for a node. And in those of the gathering."""
    for policy in 'share-out:cost=0', 'sync:i=2':
        for step in 1, 2, 3:
            expect_deaths([2], 4, policy, step, '3:8,1:e%d' % step, where=NODES[1])
            expect_deaths([2], 8, policy, step, '3:8,1:e%d' % step, where=NODES[1])
            expect_deaths([1], 4, policy, step, '3:8,2:g%d' % step, where=NODES[1])
        for step in 1, 2, 3:  # the root of the gathering: the next rank is the root then
            assert run(4, policy, step, '0:g%d' % step, where=NODES[0]) == 1
        # The second exchange may serve two deaths: then there is no fifth step.
        expect_deaths([2, 3], 4, policy, 1, '3:8,1:e2,0:e5', where=NODES[1])


def test_first_stores():
    """A process dies when another one has opened the store of its node, and a third one has not."""
    assert run(3, 'share-out', 1, '2:f1,1:f2') == 1
    for where in NODES[:1]:
        assert run(6, 'share-out', 1, '4:f1,2:f2', where=where) == 1


def test_one_left():
    """All nodes but one are lost in rg_balance_gather, and with them outcomes: an error says so."""
    for seed in 1, 652:
        status, text = jobs.run(4, PROGRAM, 'sync:i=2', 12, seed, '3:g1,0:g1,2:g1', where=NODES[1])
        assert status and ' outcomes were lost with their nodes' in text, (status, text)


def test_late_news():
    """A rank of a group knows of a death that the other one, on another node, has not heard of: no walker
    fails for it."""
    for seed in range(1, 9):
        assert run(4, 'none', seed, '3:9,0:l30000,1:w3000', where=NODES[1]) == 1


def test_births():
    """Amid what all processes are told of the walkers that units have made: on one node each of them
    is one broadcast, on several two."""
    for where in jobs.ONE, *NODES:
        for step in range(1, 9):
            assert run(4, 'sync:i=1', step, '%d:b%d' % (step % 4, step), where=where) == 1


def test_calls(seed, nodes):
    """In any callback, also the first one; one to three ranks."""
    random.seed(seed)
    for i in range(RUNS):
        where, np = random.choice(nodes), random.choice([4, 6, 8] if len(nodes) > 1 else [2, 3, 4, 6, 8])
        ranks = random.sample(range(np), random.randint(1, min(3, np - 1)))
        plan = ','.join('%d:%d' % (r, random.randrange(MOST)) for r in ranks)
        run(np, POLICIES[i % len(POLICIES)], random.randrange(1000), plan,
            *random.choice([[], ['alike']]), where=where)


def test_moments(seed, nodes):
    """From outside, at any moment of the run's life."""
    random.seed(seed)
    for i in range(RUNS):
        where, policy = random.choice(nodes), POLICIES[i % len(POLICIES)]
        np = random.choice([4, 6, 8] if len(nodes) > 1 else [2, 3, 4, 6, 8])
        status, text, killed, early = jobs.run_and_kill(np, PROGRAM, policy, 200, seed, '',
                                                        life=0.3 + 0.1 * np, where=where)
        well = (status == 0 or deaths.is_cut_at_the_end(text)) and \
            re.search(r'^RESULT \d+ \d+ \d+ ', text, re.M)
        if killed > 1 and where in NODES:  # a node, and soon after it the one with its copies
            well = well or ' were lost with their nodes' in text
        assert well or early, (where.env, seed, i, np, policy, killed, status, text)


def test_end():
    """The first rank, which is idle soon, when the others wait for it at the end of all walkers."""
    died = 0
    for seed in range(1, 5 if jobs.FULL else 3):
        for time in 400, 800:
            status, text = jobs.run(4, PROGRAM, 'none', 2, seed, '0:-%d' % time, env=deaths.ENV)
            found = re.search(r'^RESULT \d+ \d+ ([01]) ', text, re.M)
            assert status == 0 and found, (seed, time, status, text)
            died += int(found[1])  # a run may have ended before
    assert died


test_undisturbed()
test_end()
test_first_and_last()
test_limits(jobs.SEED)
if NODES:
    test_nodes(jobs.SEED)
    test_kept()
    test_domains()
    test_exchange()
    test_one_left()
    test_late_news()
test_births()
test_first_stores()
for nodes in filter(None, ([jobs.ONE], NODES)):
    test_calls(jobs.SEED, nodes)
    test_moments(jobs.SEED, nodes)

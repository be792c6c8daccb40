#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Balancing survives deaths: whoever is killed, when, and under whatever policy, each walker ends
once with its own result; on one node and on several, which MPI pretends to have, also when one is
lost as a whole. See walkers.c, kept.c and soak.py.

time: 400
"""
import os
import random
import re
import subprocess
import sys

import soak

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = os.path.join(os.environ['RGT_BUILD'], 'tests', 'walkers')
POLICIES = ['none', 'join-right', 'most-work', 'share-out:cost=0', 'release:gain=0.5', 'sync:i=2',
            'share-out:i=1', 'release:i=2,gain=1']
RUNS, MOST = 8, 60
NODES = [soak.Cliques(MPIEXEC, count) for count in (2, 4)]

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)


def run(np, policy, seed, plan, *alike, walkers=12, env=soak.ENV, where=soak.Node(MPIEXEC)):
    done = subprocess.run([*MPIEXEC, '-n', str(np), PROGRAM, policy, str(walkers), str(seed), plan,
                           *alike], env=dict(env, **where.env), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=200)
    found = re.search(r'^RESULT \d+ (\d+) (\d+) ', done.stdout, re.M)
    assert done.returncode == 0 and found, (where.env, np, policy, seed, plan, alike, done)
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
    """The copy on the other node counts: the walker does not begin again."""
    done = subprocess.run([*MPIEXEC, '-n', '2', os.path.join(os.path.dirname(PROGRAM), 'kept')],
                          env=dict(soak.ENV, **NODES[0].env), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=200)
    found = re.search(r'^KEPT (\d+)$', done.stdout, re.M)
    assert done.returncode == 0 and found and int(found[1]) > 0, done


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
        before = set(os.listdir('/dev/shm'))
        command = [*MPIEXEC, '-n', str(np), PROGRAM, policy, '200', str(seed), '']
        status, text, killed = soak.one_run(command, soak.ENV, random.randint(1, min(3, np - 1)),
                                            0.3 + 0.1 * np, 200, where)
        well = status == 0 and re.search(r'^RESULT \d+ \d+ \d+ ', text, re.M)
        early = soak.is_early(status, text)
        if early:
            soak.forget_mpich_files(before)
        assert well or early, (where.env, seed, i, np, policy, killed, status, text)


seed = int(os.environ.get('RGT_SEED', random.randrange(2**31)))
print('seed', seed)
test_undisturbed()
test_first_and_last()
test_nodes(seed)
test_kept()
for nodes in [soak.Node(MPIEXEC)], NODES:
    test_calls(seed, nodes)
    test_moments(seed, nodes)

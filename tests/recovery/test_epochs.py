#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A balancer that runs again and again while processes die: in a run, between two, and before the
outcomes are gathered; on one node and on several, which MPI pretends to have. See epochs.c.

time: 200
beside: yes
"""
import random
import re

import deaths
import jobs

POLICIES = ['none', 'share-out:cost=0', 'release:gain=0.5', 'sync:i=2', 'share-out:i=1']
NODES = [jobs.ONE, jobs.TWO, deaths.Cliques(jobs.MPIEXEC, 4)]
CALLS = 60  # of a rank, about


def run(np, policy, seed, plan, drop, where):
    status, text = jobs.run(np, 'tests/epochs', policy, seed, plan, *(['drop'] if drop else []), where=where)
    found = re.search(r'^RESULT (\d+) (\d+) (\d+) (\d+)$', text, re.M)
    if where is not jobs.ONE and plan.count(':') > 1 and ' were lost with their nodes' in text:
        return None  # a node and the one with its copies, at once
    assert status == 0 and found, (where.env, np, policy, seed, plan, drop, status, text)
    return [int(n) for n in found.groups()]


def test_undisturbed():
    for where in NODES:
        for policy in POLICIES[:2] + POLICIES[3:4]:
            assert run(4, policy, 1, '', False, where) == [56, 4, 0, 0]
            assert run(4, policy, 1, '', True, where) == [14, 4, 0, 0]


def test_between():
    """Before a run begins, and before its outcomes are gathered: the first rank, all of a node, and
    one after another."""
    for where in NODES:
        for policy in ['share-out:cost=0', 'sync:i=2'][:2 if jobs.FULL else 1]:
            for plan, deaths_ in [('0:b1', 1), ('3:g0', 1), ('1:b2,3:b2', 2), ('0:g1,2:g1', 2),
                                  ('2:b1,0:g1,3:b3', 3), ('0:b3', 1)]:
                drop = random.random() < 0.5
                result = run(4, policy, 1, plan, drop, where)
                assert result == [14 if drop else 56, 4 - deaths_, deaths_, deaths_], (plan, result)


def test_any(seed):
    """In callbacks as well."""
    random.seed(seed)
    for i in range(12 if jobs.FULL else 4):
        where, np = random.choice(NODES), random.choice([4, 6, 8])
        ranks = random.sample(range(np), random.randint(1, 3))
        plan = ','.join('%d:%s' % (r, random.choice(['b%d' % random.randrange(4),
                                                     'g%d' % random.randrange(3),
                                                     str(random.randrange(CALLS))])) for r in ranks)
        run(np, POLICIES[i % len(POLICIES)], random.randrange(1000), plan, i % 2, where)


test_undisturbed()
test_between()
test_any(jobs.SEED)

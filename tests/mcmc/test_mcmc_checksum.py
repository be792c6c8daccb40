#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The answer does not depend on the grouping: every policy and every number of ranks ends
with the states that a walk sample by sample gives, and executes each sample once.

time: 300
"""
from mcmc import checksum, result

WALKERS, SAMPLES, SEED = 11, 60, 12345
EXPECTED = checksum(SEED, [4 * w for w in range(WALKERS)], SAMPLES)
TOTAL = sum(4 * w % 32 for w in range(WALKERS)) * SAMPLES
LIST = ['--walkers', WALKERS, '--samples', SAMPLES, '--seed', SEED, '--unit', 50]


def check(np, *args):
    r = result(np, *LIST, *args)
    got = (r['checksum'], r['samples'], r['walkers'], r['ranks'])
    assert got == (EXPECTED, TOTAL, WALKERS, np), (args, got, EXPECTED, TOTAL)
    assert r['seconds'] >= r['ideal_seconds'], (args, r)
    assert 1 <= r['regroupings']['min'] <= r['regroupings']['mean'] <= r['regroupings']['max'], r
    return r


POLICIES = [['none'], ['async'], ['sync', '-i', 1], ['sync', '-i', 5]]
for np in [1, 2, 3, 4, 7, 8]:
    for policy in POLICIES:
        check(np, '--balance', *policy)
for group in [1, 2, 3]:
    for policy in POLICIES[1:3]:
        check(7, '--group', group, '--balance', *policy)
# No time at all: messages cross in every order that there is.
for policy in POLICIES[1:]:
    for group in [1, 2]:
        check(8, '--group', group, '--sample-time', 0, '--balance', *policy)
# Units that do not divide the samples, and one that holds all of them.
check(4, '--group', 2, '--unit', 7)
check(4, '--group', 2, '--unit', 100000)
check(4, '--group', 1, '--work', 'spin', '--time-scale', 0.1)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The answer does not depend on the grouping: every policy and every number of ranks ends
with the states that a walk sample by sample gives, and executes each sample once; and the array
of visits, which follows each walker's group, has counted each unit in its cell.

time: 300
beside: yes
"""
import os

from mcmc import checksums, result

FULL = os.environ.get('RGT_TIER', 'all') == 'all'
WALKERS, SAMPLES, SEED = 11, 60, 12345
KEYS = [4 * w for w in range(WALKERS)]
TOTAL = sum(4 * w % 32 for w in range(WALKERS)) * SAMPLES
LIST = ['--walkers', WALKERS, '--samples', SAMPLES, '--seed', SEED]
EXPECTED = {unit: checksums(SEED, KEYS, SAMPLES, unit) for unit in [7, 50, 100000]}


def check(np, *args, unit=50):
    r = result(np, *LIST, '--unit', unit, *args)
    got = (r['checksum'], r['visits_checksum'], r['visits'], r['samples'], r['walkers'], r['ranks'])
    assert got == (*EXPECTED[unit], TOTAL, WALKERS, np), (args, got, EXPECTED[unit], TOTAL)
    assert r['seconds'] >= r['ideal_seconds'], (args, r)
    assert 1 <= r['regroupings']['min'] <= r['regroupings']['mean'] <= r['regroupings']['max'], r
    return r


POLICIES = [['none'], ['async'], ['sync', '-i', 1], ['sync', '-i', 5]]
# Those that share out, and those that give processes back, which then hand over their part.
LIBRARY = ['most-work', 'share-out', 'release:gain=0.5', 'share-out:i=2', 'release:i=1,gain=1']
for np in [1, 2, 3, 4, 7, 8] if FULL else [1, 3]:
    for policy in POLICIES:
        check(np, '--balance', *policy)
for group in [1, 2, 3] if FULL else [2]:
    for policy in POLICIES[1:3]:
        check(7, '--group', group, '--balance', *policy)
# No time at all: messages cross in every order that there is.
for policy in POLICIES[1:]:
    for group in [1, 2] if FULL else [1]:
        check(8, '--group', group, '--sample-time', 0, '--balance', *policy)
# Units that do not divide the samples, and one that holds all of them.
check(4, '--group', 2, unit=7)
check(4, '--group', 2, unit=100000)
for policy in LIBRARY:
    for np in [3, 8] if FULL else [8]:
        check(np, '--group', 2, '--policy', policy)
        check(np, '--group', 1, '--policy', policy, '--sample-time', 0)
check(4, '--group', 1, '--work', 'spin', '--time-scale', 0.1)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Balancing survives deaths: whoever is killed, when, and under whatever policy, each walker ends
once with its own result. See walkers.c and soak.py.

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
RUNS, MOST = 12, 60

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)


def run(np, policy, seed, plan, *alike, walkers=12, env=soak.ENV):
    done = subprocess.run([*MPIEXEC, '-n', str(np), PROGRAM, policy, str(walkers), str(seed), plan,
                           *alike], env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=200)
    found = re.search(r'^RESULT \d+ (\d+) (\d+) ', done.stdout, re.M)
    assert done.returncode == 0 and found, (np, policy, seed, plan, alike, done)
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


def test_calls(seed):
    """In any callback, also the first one; one to three ranks."""
    random.seed(seed)
    for i in range(RUNS):
        np = random.choice([2, 3, 4, 6, 8])
        ranks = random.sample(range(np), random.randint(1, min(3, np - 1)))
        plan = ','.join('%d:%d' % (r, random.randrange(MOST)) for r in ranks)
        run(np, POLICIES[i % len(POLICIES)], random.randrange(1000), plan,
            *random.choice([[], ['alike']]))


def test_moments(seed):
    """From outside, at any moment of the run's life."""
    random.seed(seed)
    for i in range(RUNS):
        np, policy = random.choice([2, 3, 4, 6, 8]), POLICIES[i % len(POLICIES)]
        before = set(os.listdir('/dev/shm'))
        command = [*MPIEXEC, '-n', str(np), PROGRAM, policy, '200', str(seed), '']
        status, text, killed = soak.one_run(command, soak.ENV, random.randint(1, min(3, np - 1)),
                                            0.3 + 0.1 * np, 200)
        well = status == 0 and re.search(r'^RESULT \d+ \d+ \d+ ', text, re.M)
        early = soak.is_early(status, text)
        if early:
            soak.forget_mpich_files(before)
        assert well or early, (seed, i, np, policy, killed, status, text)


seed = int(os.environ.get('RGT_SEED', random.randrange(2**31)))
print('seed', seed)
test_undisturbed()
test_first_and_last()
test_calls(seed)
test_moments(seed)

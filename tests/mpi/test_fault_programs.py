#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Programs that use MPI's fault-tolerance extension, of which processes are killed at random moments:
a run of each on one node and on three, and one under Slurm. fault_soak.py does as many as are asked for.

time: 120
beside: yes
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'recovery'))
import jobs  # noqa: E402
from preload import cluster, skip, skip_sanitized  # noqa: E402

skip_sanitized()
if not jobs.OVER_UCX:
    skip('calls of this MPI cannot be interrupted')
import fault_soak  # noqa: E402

NAMES = tuple(fault_soak.ROUNDS)


def test(setting, runs):
    with fault_soak.soak_of(setting, jobs.BUILD, jobs.MPIEXEC, NAMES, most=5) as made:
        for seed in range(jobs.SEED, jobs.SEED + runs):
            wrong = made.run(seed)
            assert not wrong, (setting, seed, wrong)
        print(setting, dict(made.counts))


test('one', 30 if jobs.FULL else len(NAMES))
test('cliques', 30 if jobs.FULL else len(NAMES))
if jobs.FULL:
    for place in 'three', 'slurm':
        try:
            test(place, len(NAMES))
        except cluster.Unavailable as reason:
            print('not on %s: %s' % (place, reason))

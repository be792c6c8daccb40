#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The soak for half a minute, most of it on one node, the rest on two: every run ends by itself
with the right results, or, when a rank died before rg_init had returned everywhere, with one clear
error; nothing is left behind. soak.py does the same for as long as is asked for.

time: 100
beside: yes
"""
import random
import time

import jobs
import soak


def test(where, seconds):
    storm = soak.Soak(where, jobs.BUILD, ranks=random.sample(soak.RANKS, 2), wanted=1.2)
    end, runs = time.monotonic() + seconds, 0
    while time.monotonic() < end or (not storm.ends['well'] and runs < 100):
        wrong = storm.run(jobs.SEED + runs)
        assert not wrong, (where.name, jobs.SEED + runs, wrong)
        runs += 1
    print(storm.report(), end='')
    assert storm.ends['well'], 'no job survived'


random.seed(jobs.SEED)
for place, length in zip(jobs.SURVIVED, [20, 12] if jobs.FULL else [6, 6]):
    test(place, length)

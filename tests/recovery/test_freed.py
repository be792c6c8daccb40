#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Ranks are killed while all exchange long messages between nodes. The survivors free and write over
the buffers of the calls that return an error, and go on. See freed.c.

beside: yes
time: 60
"""
import random
import re

import deaths
import jobs


def run(where, np, dead):
    seed, most = random.randrange(2**31), random.choice([300000, 1000000])
    status, text = jobs.run(np, 'tests/freed', dead, seed, most, where=where)
    well = re.search(r'^RESULT \d+ %d %d ' % (np - dead, dead), text, re.M)
    assert status == 0 and well, (where.count, np, dead, seed, most, status, text)


random.seed(jobs.SEED)
THREE = deaths.Cliques(jobs.MPIEXEC, 3)
for where, np, dead in [(jobs.TWO, 3, 1), (jobs.TWO, 4, 2), (THREE, 4, 2), (THREE, 7, 4)]:
    for _ in range(2 if jobs.FULL else 1):
        run(where, np, dead)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Ranks are killed while arrays are saved and loaded, on one node and on two: the survivors save
and load again, and nothing but the file is left. See filing.c.

tier: quick
beside: yes
"""
import os
import random
import tempfile

import jobs

random.seed(jobs.SEED)
for where in [jobs.ONE, jobs.TWO]:
    for np, deaths in [(2, 1), (4, 2), (6, 3)]:
        with tempfile.TemporaryDirectory() as folder:
            seed = random.randrange(2**31)
            status, text = jobs.run(np, 'tests/filing', os.path.join(folder, 'array'), 30, seed, deaths,
                                    200000, where=where)
            what = where.name, np, deaths, seed, status, text
            assert status == 0 and 'FILED %d\n' % (np - deaths) in text, what
            assert os.listdir(folder) == ['array'], (os.listdir(folder), *what)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A death ends the waits for any, some and all of several requests, on one node and on two. See
completions.c.

tier: quick
time: 60
beside: yes
"""
import jobs

for where in jobs.ONE, jobs.TWO:
    for how in 'any', 'some', 'all':
        status, text = jobs.run(3, 'tests/completions', how, where=where)
        assert status == 0 and 'RESULT' in text, (where.name, how, status, text)

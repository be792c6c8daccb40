#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The rank that computes eigenvalues is killed, or one that waits for it, on one node and on two: the
survivors get the error and compute on. See solved.c.

tier: default
beside: yes
"""
import jobs

for where in jobs.SURVIVED:
    for victim in 0, 2:
        status, text = jobs.run(4, 'tests/solved', victim, where=where)
        assert status == 0 and 'SOLVED 3\n' in text, (where.name, victim, status, text)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Senders of long messages to another node are killed in the middle: the receiver gets the whole
message or an error, never a damaged one. See broken.c. One is given up as another rank dies:
see given_up.c.

tier: quick
time: 60
beside: yes
"""
import jobs

for np, how in [(2, 'lie'), (4, 'lie')] + [(8, jobs.SEED + i) for i in range(10)]:
    status, text = jobs.run(np, 'tests/broken', how, where=jobs.TWO)
    assert status == 0 and 'RESULT %d\n' % (np // 2) in text, (np, how, status, text)
for how in [], ['collective']:
    status, text = jobs.run(3, 'tests/given_up', *how)
    assert status == 0 and 'RESULT\n' in text, (how, status, text)

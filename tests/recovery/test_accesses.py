#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Accesses of other ranks' elements on two pretended nodes that are under way when ranks are
killed, one or all of a node: each ends, and what was written is there if a process lives on
the node. See accesses.c. Memory of an array that some member may still access is not reused: see
kept_memory.c.

time: 60
beside: yes
"""
import re

import jobs


def storm(np, how, who, seed):
    status, text = jobs.run(np, 'tests/accesses', how, who, seed, where=jobs.TWO)
    left = re.search(r'^SURVIVED (\d+)$', text, re.M)
    assert status == 0 and left, (np, how, who, seed, status, text)
    assert 1 <= int(left[1]) < np, (np, how, who, seed, left[1])


def same_as_ever(np, test):
    """The tests of one-sided operations pass, too, when node daemons serve them."""
    status, text = jobs.run(np, 'tests/' + test, where=jobs.TWO)
    assert status == 0 and ' failed=0' in text, (np, test, text)


for how in 'put', 'get', 'acc', 'real', 'inc', 'swap', 'elements', 'request', 'fence':
    storm(4, how, 'one' if how in ('inc', 'elements', 'request', 'real') else 'node', jobs.SEED)
for np in 2, 3, 6:
    storm(np, 'all', 'node', jobs.SEED)
    storm(np, 'all', 'three', jobs.SEED + 1)
same_as_ever(3, 'test_engine')
same_as_ever(3, 'test_onesided_nodes')
status, text = jobs.run(3, 'tests/kept_memory', where=jobs.TWO)
assert status == 0 and 'RESULT\n' in text, (status, text)

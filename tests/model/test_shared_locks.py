#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of shared locks (shared_locks.py), searched exhaustively, with deaths at any moment. Steps
that are left out or made in another order are found.

tier: quick
time: 60
beside: yes
"""
import sys

import search
import shared_locks

failures = 0


def check(kinds, rounds=1, fault=None):
    global failures
    result = search.search_states(shared_locks.Lock(kinds, rounds, fault), dead_ends=not fault)
    print('%s, %d rounds, %-30s %7d states %5.1f s  %s' % (
        kinds, rounds, fault or 'as it is', result.states, result.seconds, result.problem or 'holds'), flush=True)
    if bool(result.problem) != bool(fault) or not result.complete and not result.problem:
        failures += 1
        for label in result.trace:
            print('    ' + search.in_words(label))


for kinds, rounds in (('XX', 2), ('XS', 2), ('SS', 2), ('XXS', 1), ('XSS', 1)):
    check(kinds, rounds)
check('XX', 1, 'not choosing')
check('XS', 1, 'counted late')
check('XS', 2, 'lowered early')
check('XXS', 1, 'lowered for one that chose')
print('%d failed' % failures)
sys.exit(1 if failures else 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of the life of a group's shared state (state_life.py), searched exhaustively. Rules that
are left out are missed.

tier: quick
time: 60
beside: yes
"""
import sys

import search
import state_life

failures = 0


def check(n, most, fault=None):
    global failures
    result = search.search_states(state_life.Life(n, most, fault), dead_ends=True)
    print('%d members, %d steps, %-22s %7d states %5.1f s  %s' % (
        n, most, fault or 'as it is', result.states, result.seconds, result.problem or 'holds'), flush=True)
    if bool(result.problem) != bool(fault) or not result.complete and not result.problem:
        failures += 1
        for label in result.trace:
            print('    ' + search.in_words(label))


check(2, 3)
check(3, 2)
check(2, 2, 'shortage forgotten')
check(2, 2, 'errors keep it')
check(2, 2, 'attached alone counts')
check(2, 2, 'no trace before')
print('%d failed' % failures)
sys.exit(1 if failures else 0)

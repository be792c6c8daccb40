#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of the roots of an agreement (roots.py), searched exhaustively: all nodes that live have the same
decision, and there is always an end. Rules that are broken on purpose are found. The rules are those of
the code, which test_membership.py compares.

tier: quick
time: 60
beside: yes
"""
import sys

import search
from membership import Rules
from roots import Roots

failures = 0


def check(n, kills, broken=None, fault=None):
    global failures
    result = search.search_states(Roots(n, kills, Rules([broken] if broken else []), fault), dead_ends=True)
    print('%d nodes, %d kills, %-18s %7d states %5.1f s  %s' % (
        n, kills, broken or fault or 'as it is', result.states, result.seconds, result.problem or 'holds'), flush=True)
    if bool(result.problem) != bool(broken or fault) or not result.problem and not result.complete:
        failures += 1
        for label in result.trace:
            print('    ' + search.in_words(label))


for nodes, losses in [(1, 0), (2, 1), (3, 2), (4, 3), (5, 2)]:
    check(nodes, losses)
check(3, 2, 'lower_accepted')
check(4, 2, 'carried_ignored')
check(4, 2, fault='nobody asked')
print('%d failed' % failures)
sys.exit(1 if failures else 0)

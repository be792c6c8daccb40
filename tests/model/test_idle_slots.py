#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of idle slots (idle_slots.py), searched exhaustively: no user touches a slot that has been
freed, on machines with weak ordering too. Each part of the protocol that is left out is found.

time: 60
beside: yes
"""
import sys

import idle_slots
import search

failures = 0


def check(name, model, holds):
    global failures
    result = search.search_states(model)
    print('%-56s %7d states %5.1f s  %s' % (name, result.states, result.seconds, result.problem or 'holds'),
          flush=True)
    if result.problem and holds:
        for label in result.trace:
            print('    ' + search.in_words(label))
    if not result.complete or bool(result.problem) == holds:
        failures += 1
        print('FAIL %s' % name)


def main():
    for kind in ('x86', 'weak'):
        check('%s: a user' % kind, idle_slots.slots(kind), True)
        check('%s: two users' % kind, idle_slots.slots(kind, users=2, turns=1), True)
        check('%s: no hold' % kind, idle_slots.slots(kind, hold=None), False)
        check('%s: the hold comes after the look at the mark' % kind, idle_slots.slots(kind, hold='later'), False)
        check('%s: no second look at the uses' % kind, idle_slots.slots(kind, look_again=False), False)
        check('%s: uses are marked, not counted' % kind, idle_slots.slots(kind, counts=False), False)
    print('%d failed' % failures)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of bells and locks (bells.py), searched exhaustively: no wake-up is lost, on machines with
weak ordering too. A missing fence, and a sleeper that looks before it is counted, are found.

time: 60
beside: yes
"""
import os
import sys

import bells
import search

failures = 0


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print('FAIL %s' % what)


def check(name, model, holds):
    result = search.search_states(model, dead_ends=True)
    print('%-62s %7d states %5.1f s  %s' % (name, result.states, result.seconds, result.problem or 'holds'), flush=True)
    if result.problem and holds:
        for label in result.trace:
            print('    ' + search.in_words(label))
    expect(result.complete and bool(result.problem) != holds, name)
    expect(holds or 'lost wake-up' in str(result.problem), 'what is found in: ' + name)


def main():
    for kind in ('x86', 'weak'):
        check('%s: a bell' % kind, bells.bell(kind), True)
        check('%s: a bell, two sleepers' % kind, bells.bell(kind, sleepers=2), True)
        check('%s: done_bell' % kind, bells.done_bell(kind), True)
        check('%s: a lock, two processes' % kind, bells.lock(kind), True)
        check('%s: done_bell, looked at before the sleeper is counted' % kind, bells.done_bell(kind, expect=False), False)
    if os.environ.get('RGT_TIER', 'all') == 'all':
        check('weak: a lock, three processes', bells.lock('weak', processes=3), True)
    # What x86's atomic operations hide.
    for kind in ('x86', 'weak'):
        hidden = kind == 'x86'
        check('%s: a bell without the fence' % kind, bells.bell(kind, fence=False), hidden)
        check('%s: done_bell, no fence behind the count' % kind, bells.done_bell(kind, fence=False), hidden)
        check('%s: a lock that is released by an exchange' % kind, bells.lock(kind, fence=False), hidden)
    print('%d failed' % failures)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The models of membership (any_timing.py, just_timing.py), searched exhaustively: never two worlds,
no healthy node lost by another's fault, always an end, and proven deaths need no majority. Rules
that are broken on purpose are found, with the shortest trace. The rules are those of the code: for
all inputs the functions of voting.c and ballot.c with their names give the same. The floods of scale.py have the
counts of closed form.

    test_membership.py [--nodes 4 --faults 3 [--ballots 3] [--kinds kill,stop,cut] [--one-by-one]]

With options it searches both models for that many nodes and faults, which may take hours.

time: 60
beside: yes
"""
import argparse
import itertools
import os
import sys

import scale
import search
from any_timing import AnyTiming
from ballot_code import BallotCode
from just_timing import JustTiming
from membership import Rules, lowest_bit

FULL = os.environ.get('RGT_TIER', 'all') == 'all'
EVERY = ('kill', 'stop', 'cut', 'cut off')
failures = 0


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print('FAIL %s' % what)


def show(name, result, trace):
    print('%-52s %8d states %9d steps %6.1f s  %s' % (
        name, result.states, result.transitions, result.seconds,
        result.problem or ('holds' if result.complete else 'holds so far: not complete')), flush=True)
    if trace:
        for label in result.trace:
            print('    ' + search.in_words(label))


def check_holds(name, model, dead_ends):
    result = search.search_states(model, dead_ends=dead_ends)
    show(name, result, True)
    expect(not result.problem, name)


def check_found(rule, model, path=()):
    """A broken rule is found. The steps of the path come before those that are printed."""
    result = search.search_states(model, path=path)
    for words in path:
        print('    (%s)' % words)
    show('broken: ' + rule, result, True)
    expect(result.problem and 'dead end' not in result.problem, 'the broken rule %s is not found' % rule)


def check_any_timing():
    for n, kills, ballots in [(2, 1, 4), (4, 3, 1), (5, 1, 1)] + [(3, 2, 3)] * FULL:
        check_holds('any timing, %d nodes, %d kills, %d ballots' % (n, kills, ballots),
                    AnyTiming(n, kills, ballots=ballots), False)
    for n, kills, witness in [(5, 1, False), (4, 1, True)] * FULL:
        check_holds('any timing, %d nodes, %d kill, 2 ballots%s' % (n, kills, ', witness' * witness),
                    AnyTiming(n, kills, Rules(witness=witness), ballots=2, single=True), False)
    check_holds('any timing, 2 nodes, 1 kill, 3 ballots, witness',
                AnyTiming(2, 1, Rules(witness=True), ballots=3), False)
    check_holds('any timing, 4 nodes, 0 kills, 1 ballot, witness',
                AnyTiming(4, 0, Rules(witness=True), ballots=1), False)


def check_just_timing():
    for n, faults, kinds in [(2, 2, EVERY), (3, 1, ('reject',)), (3, 2, ('kill',))] + \
            [(3, 1, EVERY), (4, 3, ('kill',))] * FULL:
        check_holds('just timing, %d nodes, %d of %s' % (n, faults, ', '.join(kinds)),
                    JustTiming(n, faults, kinds), True)


def check_broken_rules():
    for rule in ('both_halves', 'finished_is_gone'):
        check_found(rule, AnyTiming(2, 0, Rules([rule]), ballots=2))
    check_found('voters_only', AnyTiming(5, 0, Rules(['voters_only']), ballots=2, single=True))
    check_found('voters_only, witness', AnyTiming(4, 0, Rules(['voters_only'], True), ballots=2, single=True))
    for rule in ('lower_accepted', 'dead_count_out', 'carried_ignored'):
        check_found(rule, AnyTiming(3, 1, Rules([rule]), ballots=2))
    # 0 decides nothing, 1 decides by what it carries, 2 and 3 live and have accepted nothing.
    check_found('dead_still_heard', AnyTiming(4, 2, Rules(['dead_still_heard']), ballots=3, victims=False), [
        'start 0', 'promise 1 to 0', 'promise 2 to 0', 'accept 0 proposes [3] with [0, 1, 2]',
        'accepted 1 of 0', 'start 1', 'promise 0 to 1', 'accept 1 proposes [3] with [0, 1]', 'accepted 0 of 1',
        'decide 1 [3]', 'kill 0', 'kill 1'])
    check_found('gone_unasked', JustTiming(3, 1, ['reject'], Rules(['gone_unasked'])))
    check_found('silent_unasked', JustTiming(3, 1, ['cut off'], Rules(['silent_unasked'])))
    check_found('silent_by_suspicion', JustTiming(3, 2, ['cut off', 'stop'], Rules(['silent_by_suspicion'])), [
        'cut off 0', 'suspect 0', 'silent 0'])
    check_found('part_unjudged', JustTiming(2, 2, ['stop', 'kill'], Rules(['part_unjudged'])))
    check_found('part_unasked', JustTiming(4, 1, ['halves'], Rules(['part_unasked'])), [
        'halves [0, 1]', 'suspect 2', 'silent 2', 'suspect 3', 'silent 3', 'start 2'])


def subsets(mask):
    part = mask
    while True:
        yield part
        if not part:
            return
        part = (part - 1) & mask


def check_voting(code):
    rules, numbers = Rules(), (-1, 0, 1, 2, 3, 1 << 40)
    for promised, accepted, ballot in itertools.product(numbers, repeat=3):
        promises, accepts = rules.promise(promised, ballot), rules.accept(promised, ballot)
        expect(code.vote('promise', promised, accepted, ballot) ==
               (promises, ballot if promises else promised, accepted), 'promise %s' % [promised, accepted, ballot])
        expect(code.vote('accept', promised, accepted, ballot) ==
               (accepts, ballot if accepts else promised, ballot if accepts else accepted),
               'accept %s' % [promised, accepted, ballot])
        taken = rules.take(promised, ballot)
        expect(code.take(promised, ballot) == (taken, ballot if taken else promised), 'take %s' % [promised, ballot])


def check_code():
    """Every rule of the model is one of the code."""
    code, n = BallotCode(), 4
    every = (1 << n) - 1
    check_voting(code)
    for present in range(1, 1 << n):
        for promised in subsets(present):
            for gone in subsets(present & ~promised if promised else 0):
                ballot = code.ballot(n, present, promised, gone)
                for witness in (False, True):
                    for claim in [0] + [1 << k for k in range(n)]:
                        rules = Rules(witness=witness)
                        given = claim if witness else lowest_bit(present)
                        expect(bool(rules.is_quorum(present, promised, gone, claim)) == code.is_quorum(ballot, given),
                               'is_quorum %s' % [present, promised, gone, claim, witness])
                fresh = present & ~promised
                for carried in [(0, 0)] + [(1, mask) for mask in subsets(every)]:
                    expect(Rules().set_to_propose(fresh, carried, present, promised, gone) ==
                           code.set_to_propose(ballot, fresh, carried),
                           'set_to_propose %s' % [fresh, carried, present, promised, gone])
    expect(set(code.names) == {name for name in vars(Rules) if not name.startswith('_')}, 'rules without code')


def check_scale():
    """Each node sends a fact on all its links but one, the first one on all."""
    for n in (1, 2, 3, 4, 5, 7, 8, 16, 33):
        links = sum(len(scale.links_of(i, n)) for i in range(n))
        messages, seconds, known = scale.flood(n, [0])
        expect((messages, known) == (links - (n - 1), n), 'a flood over %d nodes: %d messages' % (n, messages))
        if 1 < n <= 5:
            expect(links == n * (n - 1), '%d nodes are linked each with each' % n)
        messages, seconds = scale.agreement(n)
        expect(messages == 2 * (n - 1), 'an agreement of %d nodes: %d messages' % (n, messages))
        messages, seconds = scale.ballot(n)
        expect(messages >= 3 * (links - (n - 1)) + 2 * (n - 1), 'a ballot of %d nodes: %d messages' % (n, messages))
        if 1 < n <= 5:  # each with each: answers go one hop
            expect(messages == 3 * (links - (n - 1)) + 2 * (n - 1), 'a ballot of %d linked nodes' % n)
        if 1 < n <= 5:
            expect(scale.ballot_one_by_one(n) == 4 * (n - 1) + links - (n - 1), 'answers of %d linked nodes' % n)
    expect(scale.flood(2, [0])[1] == scale.HOP + scale.PROCESS, 'a flood over 2 nodes takes one hop')
    expect(len(scale.links_of(0, 1250)) == 22, 'links of a node of 1250')
    expect(scale.idle(1250) == 22 and scale.ballot_connections(1250) == 1227, 'connections of 1250 nodes')


def search_by_hand(options):
    kinds = options.kinds.split(',')
    check_holds('any timing', AnyTiming(options.nodes, options.faults, Rules(witness=options.witness),
                                        ballots=options.ballots), False)
    check_holds('just timing', JustTiming(options.nodes, options.faults, kinds,
                                          at_once=not options.one_by_one), True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nodes', type=int)
    parser.add_argument('--faults', type=int, default=2)
    parser.add_argument('--ballots', type=int, default=None, help='of the model with any timing; default: any number')
    parser.add_argument('--kinds', default=','.join(EVERY), help='also: halves, reject')
    parser.add_argument('--one-by-one', action='store_true', help='a node notices each other one by itself')
    parser.add_argument('--witness', action='store_true')
    options = parser.parse_args()
    if options.nodes:
        search_by_hand(options)
    else:
        check_code()
        check_scale()
        check_any_timing()
        check_just_timing()
        check_broken_rules()
    print('%d failed' % failures)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())

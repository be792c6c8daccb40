#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Patterns of work under policies: how near to the bound real runs come.

Each pattern is scaled so that all ranks together need the same time (the bound): all work on
all ranks, which is never less than the longest walker on all of them."""
import argparse
import json
import os
import sys

from launch import output_folder, run, shown, table

PATTERNS = ['published', 'ascending', 'descending', 'huge', 'heavy-tail', 'queue']
POLICIES = ['none', 'join-right', 'most-work', 'share-out']
DEFAULT = 'share-out'
BEST_WITHIN, DEFAULT_WITHIN = 1.05, 1.08


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('programs', nargs='?', default='build/bin', help='folder (build/bin)')
    parser.add_argument('--ranks', type=int, default=32, help='default 32')
    parser.add_argument('--bound', type=float, default=3.5, help='seconds; default 3.5')
    parser.add_argument('--repeat', type=int, default=1, help='take the median of N runs')
    parser.add_argument('--seeds', type=int, default=10, help='random patterns; default 10')
    parser.add_argument('--patterns', help='only these, by commas')
    parser.add_argument('--policies', default=','.join(POLICIES), help='by commas')
    parser.add_argument('--check', action='store_true',
                        help='status 1 unless the best policy stays within %g and %s within %g of '
                        'the bound on every pattern' % (BEST_WITHIN, DEFAULT, DEFAULT_WITHIN))
    return parser.parse_args()


def measure(args, pattern, policy):
    """The run with the median time."""
    runs = [run(args.programs, args.ranks, '--pattern', pattern, '--bound', args.bound, '--policy',
                policy, '--quiet') for _ in range(args.repeat)]
    return sorted(runs, key=lambda r: r['seconds'])[len(runs) // 2]


def main():
    args = arguments()
    patterns = (args.patterns.split(',') if args.patterns else
                PATTERNS + ['random:%d' % s for s in range(1, args.seeds + 1)])
    policies = args.policies.split(',')
    rows, results, failed = [['seconds / bound'] + policies], [], []
    for pattern in patterns:
        ratios, sums = {}, set()
        for policy in policies:
            print('running: %s, %s' % (pattern, policy), file=sys.stderr, flush=True)
            r = measure(args, pattern, policy)
            ratios[policy] = r['seconds'] / r['ideal_seconds']
            sums.add(r['checksum'])
            results.append(r)
        if len(sums) != 1:
            sys.exit('%s: the final states differ: checksums %s' % (pattern, ', '.join(sums)))
        rows.append([pattern] + ['%.3f' % ratios[p] for p in policies])
        if min(ratios.values()) > BEST_WITHIN or ratios.get(DEFAULT, 0) > DEFAULT_WITHIN:
            failed.append(pattern)
    print('%d ranks in groups of 4; the bound is %g s\n\n%s' % (args.ranks, args.bound, table(rows)))
    name = os.path.join(output_folder('patterns'), 'patterns.json')
    with open(name, 'w') as f:
        json.dump({'ranks': args.ranks, 'bound_seconds': args.bound, 'runs': results}, f, indent=1)
    print('\n%s' % shown(name))
    if failed:
        print('not within %g (best policy) and %g (%s): %s' %
              (BEST_WITHIN, DEFAULT_WITHIN, DEFAULT, ', '.join(failed)))
    return 1 if failed and args.check else 0


if __name__ == '__main__':
    sys.exit(main())

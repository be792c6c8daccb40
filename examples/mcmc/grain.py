#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Balancing of computing walkers with units of different length, where ranks share processors.

The samples use processor time, so larger groups gain nothing while all processors are in use. For each
time of a unit on one rank, runs without balancing and with each policy alternate; the table has the
medians, and their ratio to the time without balancing."""
import argparse
import json
import os
import statistics
import sys

from launch import output_folder, run, shown, table

GRAINS = [10, 100, 1000, 10000, 100000]
WITHIN = 1.05


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('programs', nargs='?', default='build/bin', help='folder (build/bin)')
    parser.add_argument('--ranks', type=int, default=8, help='default 8')
    parser.add_argument('--group', type=int, default=1, help='ranks in a group at first; default 1')
    parser.add_argument('--bound', type=float, default=0.5,
                        help='seconds that the work takes on a processor for each rank; default 0.5')
    parser.add_argument('--pattern', default='random:1', help='of work; default random:1')
    parser.add_argument('--repeat', type=int, default=5, help='runs of each kind; default 5')
    parser.add_argument('--grains', default=','.join(map(str, GRAINS)),
                        help='microseconds of a unit on one rank, by commas')
    parser.add_argument('--policies', default='share-out,release', help='by commas')
    parser.add_argument('--check', action='store_true',
                        help='status 1 unless the first policy stays within %g' % WITHIN)
    return parser.parse_args()


def measure(args, grain, policy):
    return run(args.programs, args.ranks, '--work', 'spin', '--pattern', args.pattern, '--bound', args.bound,
               '--group', args.group, '--unit', 1, '--sample-time', grain, '--policy', policy, '--quiet')


def main():
    args = arguments()
    policies = ['none'] + args.policies.split(',')
    rows, results, worst = [['unit, us', 'none, s'] + policies[1:]], [], 0
    for grain in map(float, args.grains.split(',')):
        runs = {p: [] for p in policies}
        for i in range(args.repeat):
            print('running: %g us, %d of %d' % (grain, i + 1, args.repeat), file=sys.stderr, flush=True)
            for policy in policies:
                runs[policy].append(measure(args, grain, policy))
        if len({r['checksum'] for p in policies for r in runs[p]}) != 1:
            sys.exit('%g us: the final states differ' % grain)
        seconds = {p: statistics.median(r['seconds'] for r in runs[p]) for p in policies}
        ratios = [seconds[p] / seconds['none'] for p in policies[1:]]
        worst = max(worst, ratios[0])
        rows.append(['%g' % grain, '%.3f' % seconds['none']] + ['%.3f' % r for r in ratios])
        results += [r for p in policies for r in runs[p]]
    print('%d ranks in groups of %d; policies: seconds / seconds without balancing\n\n%s' %
          (args.ranks, args.group, table(rows)))
    name = os.path.join(output_folder('grain'), 'grain.json')
    with open(name, 'w') as f:
        json.dump({'ranks': args.ranks, 'group': args.group, 'runs': results}, f, indent=1)
    print('\n%s' % shown(name))
    return 1 if args.check and worst > WITHIN else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The MCMC benchmark kernel on 32 ranks with three ways of balancing, side by side."""
import argparse
import os
import sys

from launch import output_folder, policy_name, run, shown, table

INTERVAL = 16
INTRO = """\
%d ranks in groups of 4, each group with a walker of its own. The walkers have between
0 and 280 units of work: left alone, most groups soon have nothing to do. With balancing
a group that has finished joins its right neighbour, and both go on as one new group.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('programs', nargs='?', default='build/bin', help='folder (build/bin)')
    parser.add_argument('--ranks', type=int, default=32, help='default 32')
    parser.add_argument('--time-scale', type=float, default=1.0,
                        help='multiplies all times; default 1: about 20 seconds together')
    args = parser.parse_args()
    folder = output_folder('demo')
    print(INTRO % args.ranks, flush=True)
    rows = [['balancing', 'seconds', 'ideal', 'efficiency', 'regroupings per process']]
    results, pictures = [], []
    for policy in ['none', 'sync', 'async']:
        name = policy_name(policy, INTERVAL)
        picture = os.path.join(folder, '%s.svg' % policy)
        print('running: %s' % name, flush=True)
        r = run(args.programs, args.ranks, '--balance', policy, '--interval', INTERVAL,
                '--time-scale', args.time_scale, '--trace', picture)
        g = r['regroupings']
        rows.append([name, '%.2f' % r['seconds'], '%.2f' % r['ideal_seconds'],
                     '%.1f %%' % (100 * r['efficiency']),
                     '%.2f (%d to %d)' % (g['mean'], g['min'], g['max'])])
        results.append(r)
        pictures.append(shown(picture))
    print('\n' + table(rows) + '\n')
    checksums = {r['checksum'] for r in results}
    if len(checksums) != 1:
        sys.exit('the final states differ: checksums %s' % ', '.join(sorted(checksums)))
    print('All %d samples were executed once each, and the walkers ended in the same states in '
          'all three runs\n(checksum %s).' % (results[0]['samples'], checksums.pop()))
    print('Timelines: %s' % ', '.join(pictures))


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The published weak-scaling figure of the MCMC benchmark kernel, measured here.

The published figures are those of Dinan et al., Noncollective Communicator Creation in MPI
(EuroMPI 2011), Fig. 2 and Table 1. The pattern of work repeats every 32 ranks: fewer have
bounds of their own, and from 32 on the bounds stay the same."""
import argparse
import json
import os
import statistics
import sys

from figure import Figure
from launch import output_folder, policy_name, run, shown, table

POLICIES = [('none', None), ('sync', 1), ('sync', 16), ('sync', 128), ('async', None)]
# Seconds by number of ranks; the regroupings are mean, sd, min, max at 8192 ranks.
PUBLISHED = {('none', None): {32: 7.01, 512: 7.01, 8192: 7.01},
             ('sync', 1): {32: 6.25, 512: 6.31, 8192: 6.60},
             ('sync', 16): {32: 6.17, 512: 6.21, 8192: 6.29},
             ('sync', 128): {32: 6.10, 512: 6.14, 8192: 6.21},
             ('async', None): {32: 3.88, 512: 3.91, 8192: 4.03}}
PUBLISHED_REGROUPINGS = {('sync', 1): (5.38, 2.12, 2, 8), ('sync', 16): (5.38, 2.12, 2, 8),
                         ('sync', 128): (2.62, 0.48, 2, 3), ('async', None): (14.38, 3.54, 5, 26)}
NOTES = """\
Published figures stand beside 32 ranks; 64 lies between the published 32 and 512.
The published regroupings are those of 8192 ranks. The synchronous ones follow from the
rules at any multiple of 32; the asynchronous ones do not: with more ranks a group that
has finished finds neighbours beyond its 32.
With i = 128 the published time (6.10 s) is less than its own rules allow: the longest
walker has 24 units left when it is joined after 256 units, 256 x 25 ms + 24 x 3.125 ms =
6.475 s even if regrouping costs nothing.
"""


def between(published, ranks):
    """What was published for this number of ranks, or for those on both sides of it."""
    if ranks in published:
        return '%.2f' % published[ranks]
    below = [n for n in published if n < ranks]
    above = [n for n in published if n > ranks]
    return '%.2f to %.2f' % (published[max(below)], published[min(above)]) if below and above else ''


def measure(programs, ranks, repeat):
    """Runs all policies in turn, so that a busy moment does not fall on one of them alone."""
    runs = {p: [] for p in POLICIES}
    for turn in range(repeat):
        for policy, interval in POLICIES:
            print('%d ranks, %s, %d of %d' % (ranks, policy_name(policy, interval), turn + 1,
                                              repeat), flush=True)
            runs[policy, interval].append(
                run(programs, ranks, '--balance', policy, '--interval', interval or 16))
    return runs


def summary(policy, interval, runs):
    seconds = sorted(r['seconds'] for r in runs)
    g = {k: statistics.median(r['regroupings'][k] for r in runs)
         for k in ['mean', 'sd', 'min', 'max']}
    return {'ranks': runs[0]['ranks'], 'policy': policy, 'interval': interval,
            'seconds': statistics.median(seconds), 'fastest': seconds[0], 'slowest': seconds[-1],
            'ideal_seconds': runs[0]['ideal_seconds'],
            'baseline_seconds': runs[0]['baseline_seconds'], 'regroupings': g,
            'published_seconds': PUBLISHED[policy, interval].get(runs[0]['ranks']),
            'checksum': runs[0]['checksum'], 'runs': runs}


def check_checksums(points):
    for ranks in {p['ranks'] for p in points}:
        sums = {r['checksum'] for p in points if p['ranks'] == ranks for r in p['runs']}
        if len(sums) != 1:
            sys.exit('at %d ranks the final states differ: checksums %s' % (ranks, sums))


def print_tables(points):
    rows = [['balancing', 'ranks', 'seconds', 'from', 'to', 'ideal', 'no balancing', 'published']]
    for p in points:
        rows.append([policy_name(p['policy'], p['interval']), str(p['ranks']),
                     *['%.2f' % p[k] for k in ['seconds', 'fastest', 'slowest', 'ideal_seconds',
                                               'baseline_seconds']],
                     between(PUBLISHED[p['policy'], p['interval']], p['ranks'])])
    print('\nTime (median and range)\n' + table(rows))
    rows = [['balancing', 'ranks', 'mean', 'sd', 'min', 'max', 'published mean / sd / min / max']]
    for p in points:
        published = PUBLISHED_REGROUPINGS.get((p['policy'], p['interval']))
        if p['ranks'] < 32 or not published:
            continue
        g = p['regroupings']
        rows.append([policy_name(p['policy'], p['interval']), str(p['ranks']), '%.2f' % g['mean'],
                     '%.2f' % g['sd'], '%d' % g['min'], '%d' % g['max'],
                     '%.2f / %.2f / %d / %d' % published])
    if len(rows) > 1:
        print('\nRegroupings per process\n' + table(rows))
    print('\n' + NOTES)


def plot(points, path):
    """One line for each policy; open points are the published ones at 32 ranks."""
    colours = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00']
    ranks = sorted({p['ranks'] for p in points})
    figure = Figure('MCMC benchmark kernel: weak scaling',
                    more='set xrange [%g:%g]\nset xtics (%s)' % (
                        ranks[0] / 1.2, ranks[-1] * 1.2, ', '.join(map(str, ranks))))
    for (policy, interval), colour in zip(POLICIES, colours):
        own = [p for p in points if (p['policy'], p['interval']) == (policy, interval)]
        figure.add([(p['ranks'], p['seconds']) for p in own],
                   "with linespoints pt 7 ps 0.8 lw 2 lc rgb '%s'" % colour,
                   'no balancing' if policy == 'none' else
                   policy + (' i=%d' % interval if interval else ''))
        if 32 in ranks:
            figure.add([(32, PUBLISHED[policy, interval][32])],
                       "with points pt 6 ps 1.4 lw 2 lc rgb '%s'" % colour)
    figure.add([(p['ranks'], p['ideal_seconds']) for p in points if p['policy'] == 'none'],
               "with lines dt 2 lw 2 lc rgb '#333333'", 'ideal')
    if 32 in ranks:
        figure.add([(32, -1)], "with points pt 6 ps 1.4 lw 2 lc rgb '#333333'",
                   'published, 32 ranks')
    figure.draw(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('programs', nargs='?', default='build/bin', help='folder (build/bin)')
    parser.add_argument('--repeat', type=int, default=3, metavar='N',
                        help='how often each is run; default 3, about five minutes')
    parser.add_argument('--ranks', type=lambda s: [int(n) for n in s.split(',')],
                        default=[8, 16, 32, 64], metavar='P,P,...', help='default 8,16,32,64')
    args = parser.parse_args()
    folder = output_folder('paper')
    points = []
    for ranks in args.ranks:
        runs = measure(args.programs, ranks, args.repeat)
        points += [summary(*p, runs[p]) for p in POLICIES]
    points.sort(key=lambda p: POLICIES.index((p['policy'], p['interval'])))
    check_checksums(points)
    print_tables(points)
    with open(os.path.join(folder, 'paper.json'), 'w') as f:
        json.dump(points, f, indent=2)
    plot(points, os.path.join(folder, 'paper.svg'))
    print('Plot: %s; all results: %s' % tuple(shown(os.path.join(folder, 'paper.' + kind))
                                              for kind in ['svg', 'json']))


if __name__ == '__main__':
    main()

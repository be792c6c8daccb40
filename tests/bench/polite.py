#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What polite waiting costs: plain programs alone, with libregroup-polite.so and with
libregroup-mpi.so, in turn within one run. Each ratio is the median over pairs of runs that follow
one another, with the 95 % interval of the median."""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys

KINDS = ['look', 'probe', 'test', 'put', 'flush', 'file', 'sum', 'threads']
CONTENDERS = ['plain', 'polite', 'mpi']
MOST_TIMES = 100_000_000


def fail(*words):
    sys.exit('polite.py: ' + ' '.join(str(w) for w in words))


def command_of(given, np, contender, program, *words):
    library = os.path.abspath('%s/lib/libregroup-%s.so' % (given.build, contender))
    preload = [] if contender == 'plain' else ['env', 'LD_PRELOAD=' + library]
    return [*given.mpiexec.split(), '-n', str(np), *preload, '%s/tests/%s' % (given.build, program),
            *map(str, words)]


def seconds(given, kind, np, times, contender):
    """Of the loop, as the program tells it: without the start of the job."""
    command = ['timeout', str(given.limit), *command_of(given, np, contender, 'plain_loops', kind, times)]
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r'^seconds (\S+)$', done.stdout, re.M)
    if done.returncode or not found:
        fail(' '.join(command), 'ended with', done.returncode, done.stdout, done.stderr)
    return float(found[1])


def choose_times(given, kind, np):
    """So many that a plain run takes as long as wanted."""
    times = 1
    while times < MOST_TIMES:
        took = seconds(given, kind, np, times, 'plain')
        if took >= given.seconds / 4:
            return max(1, round(times * given.seconds / took))
        times *= 4 if took < given.seconds / 64 else 2
    return times


def in_turn(contenders, pairs):
    """Each contender so many times; the order rotates."""
    for pair in range(pairs):
        for i in range(len(contenders)):
            yield contenders[(i + pair) % len(contenders)]


def interval(values):
    """The 95 % interval of the median: order statistics; all of them where they are few."""
    values, n, below, k = sorted(values), len(values), 0.0, 0
    while k < n // 2 and below + math.comb(n, k) / 2 ** n <= 0.025:
        below += math.comb(n, k) / 2 ** n
        k += 1
    k = max(k - 1, 0)
    return values[k], values[n - 1 - k]


def measure(given, kind, np):
    times, took = choose_times(given, kind, np), {c: [] for c in CONTENDERS}
    for contender in in_turn(CONTENDERS, given.pairs):
        took[contender].append(seconds(given, kind, np, times, contender))
    rows = []
    for contender in CONTENDERS:
        ratios = [a / b for a, b in zip(took[contender], took['plain'])]
        low, high = interval(ratios)
        rows.append({'kind': kind, 'ranks': np, 'times': times, 'contender': contender,
                     'median': statistics.median(took[contender]), 'seconds': took[contender],
                     'ratio': statistics.median(ratios), 'low': low, 'high': high})
    return rows


def print_rows(rows):
    for r in rows:
        head = '%-8s %5d %9d' % (r['kind'], r['ranks'], r['times'])
        print('%s  %-7s %10.4f  %7.3f  %7.3f .. %.3f' % (
            head if r['contender'] == 'plain' else ' ' * len(head), r['contender'],
            1e6 * r['median'] / r['times'], r['ratio'], r['low'], r['high']), flush=True)


def numbers(text):
    found = [int(n) for n in text.split(',')]
    if min(found) < 1:
        raise ValueError
    return found


def words(text):
    found = text.split(',')
    if not set(found) <= set(KINDS):
        raise argparse.ArgumentTypeError('%s: there are %s' % (text, ', '.join(KINDS)))
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('build', help='the folder of the build: build/release')
    p.add_argument('--ranks', type=numbers, default=[1, 2], help='1,2')
    p.add_argument('--kinds', type=words, default=KINDS, help=','.join(KINDS))
    p.add_argument('--pairs', type=int, default=15, help='runs of each (15)')
    p.add_argument('--seconds', type=float, default=0.3, help='of a plain run (0.3)')
    p.add_argument('--limit', type=int, default=120, help='seconds that no run may exceed (120)')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    p.add_argument('--json', help='a file for all figures')
    given = p.parse_args()
    if not os.path.exists(given.build + '/tests/plain_loops'):
        fail(given.build + '/tests/plain_loops is not built: scons tests')
    print('%-8s %5s %9s  %-7s %10s  %7s  95 %% interval' % (
        'loop', 'ranks', 'times', '', 'us each', '/ plain'))
    rows = []
    for np in given.ranks:
        for kind in given.kinds:
            rows += measure(given, kind, np)
            print_rows(rows[-len(CONTENDERS):])
    if given.json:
        with open(given.json, 'w') as f:
            json.dump({'pairs': given.pairs, 'processors': len(os.sched_getaffinity(0)),
                       'results': rows}, f, indent=1)


if __name__ == '__main__':
    main()

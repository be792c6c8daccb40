#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The whole table of collectives as MPI programs see them: MPI's own over the preloaded library, for
each operation, size, number of ranks and way of measuring. Prints the median of all cells, that of
each operation, and the cells in which the preloaded library is slower beyond doubt. The interval of
a ratio comes from the 95 % intervals of both medians, so it is a little too wide."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

WAYS = {'rotating': [], 'each': ['--each'], 'stream': ['--stream']}
SIZES = '0,8,64,1024,8192,65536,262144,1048576,4194304'
LEAST = 0.95      # the ratio that counts as equal
SHORT = 0.1e-6    # calls that may be slower by
SLOWER = 20e-9


def processors():
    """Of this process, and so of the jobs that it starts."""
    return len(os.sched_getaffinity(0))


def jobs(given):
    """(ranks, waiting, way); MPI's waits are polite, and plain too where each rank has a processor."""
    for ranks in given.ranks:
        for waiting in given.waiting:
            if waiting == 'polite' or ranks <= processors():
                for way in given.ways:
                    yield ranks, waiting, way


def measure(given, ranks, waiting, way, seconds):
    """The rows of a run of regroup-bench."""
    with tempfile.NamedTemporaryFile(suffix='.json') as f:
        env = ['env', 'LD_PRELOAD=' + os.path.abspath(given.build + '/lib/libregroup-mpi.so')]
        if waiting == 'plain':
            env += ['RG_POLITE=0']
        command = [*given.mpiexec.split(), '-n', str(ranks), *env, given.build + '/bin/regroup-bench',
                   'coll', *WAYS[way], '--operation', given.operations, '--sizes', given.sizes,
                   '-r', str(given.runs), '-p', '0', '-t', '%.1f' % seconds, '-q', '-j', f.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=4 * seconds + 60)
        if done.returncode:
            sys.exit('table.py: %s ended with %d\n%s%s' %
                     (' '.join(command), done.returncode, done.stdout, done.stderr))
        return json.load(f)['results']


def cells(given, ranks, waiting, way, seconds):
    found = {}
    for row in measure(given, ranks, waiting, way, seconds):
        found.setdefault((row['operation'], row['bytes']), {})[row['contender']] = row
    for (operation, size), row in found.items():
        mpi, ours = row['MPI'], row['regroup-mpi']
        yield {'operation': operation, 'bytes': size, 'ranks': ranks, 'waiting': waiting,
               'way': way, 'runs': ours['runs'], 'mpi': mpi['median'], 'ours': ours['median'],
               'ratio': mpi['median'] / ours['median'], 'low': mpi['low'] / ours['high'],
               'high': mpi['high'] / ours['low']}


def fails(c):
    short = c['mpi'] < SHORT and c['ours'] - c['mpi'] <= SLOWER
    return c['high'] < LEAST and not short


def tell(table):
    bad = [c for c in table if fails(c)]
    print('%d cells, the median of all %.2f; %d below %.2f' % (
        len(table), statistics.median(c['ratio'] for c in table), len(bad), LEAST))
    for operation in dict.fromkeys(c['operation'] for c in table):
        ratios = [c['ratio'] for c in table if c['operation'] == operation]
        print('%-16s %3d cells, median %.2f, from %.2f to %.2f' % (
            operation, len(ratios), statistics.median(ratios), min(ratios), max(ratios)))
    print('| ranks | waiting | way | operation | bytes | MPI, us | ours, us | ratio | interval |')
    print('|---|---|---|---|---|---|---|---|---|')
    for c in sorted(bad, key=lambda c: c['ratio']):
        print('| %d | %s | %s | %s | %d | %.3f | %.3f | %.2f | %.2f .. %.2f |' % (
            c['ranks'], c['waiting'], c['way'], c['operation'], c['bytes'], 1e6 * c['mpi'],
            1e6 * c['ours'], c['ratio'], c['low'], c['high']))


def read(files):
    table = []
    for name in files:
        with open(name) as f:
            table += json.load(f)['cells']
    return table


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('build', help='the folder of the build: build/release')
    p.add_argument('--ranks', default='2,4,8', help='2,4,8')
    p.add_argument('--ways', default='rotating,each,stream', help='rotating,each,stream')
    p.add_argument('--waiting', default='polite,plain', help='polite,plain (plain: ranks that have a processor each)')
    p.add_argument('--operations', default='all')
    p.add_argument('--sizes', default=SIZES, help=SIZES)
    p.add_argument('--runs', type=int, default=15, help='of each contender (15)')
    p.add_argument('--seconds', type=float, default=540, help='of all measurements (540)')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    p.add_argument('--json', help='a file for all cells')
    p.add_argument('--read', nargs='*', default=[], help='measure nothing: files of --json')
    given = p.parse_args()
    if given.read:
        tell(read(given.read))
        return
    given.ranks = [int(n) for n in given.ranks.split(',')]
    given.ways, given.waiting = given.ways.split(','), given.waiting.split(',')
    if not set(given.ways) <= set(WAYS) or not set(given.waiting) <= {'polite', 'plain'}:
        p.error('--ways are %s; --waiting is polite or plain' % ', '.join(WAYS))
    if not re.fullmatch(r'\d+(,\d+)*', given.sizes):
        p.error('--sizes: numbers, as ' + SIZES)
    table, todo = [], list(jobs(given))
    for ranks, waiting, way in todo:
        table += cells(given, ranks, waiting, way, given.seconds / len(todo))
    tell(table)
    if given.json:
        with open(given.json, 'w') as f:
            json.dump({'processors': processors(), 'cells': table}, f, indent=1)


if __name__ == '__main__':
    main()

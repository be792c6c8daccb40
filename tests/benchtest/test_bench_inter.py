#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-bench between two groups: each of the options at 2, 3, 6 and 8 processes, every result
verified; by MPI itself where it can start processes, else out of the reserve.

tier: all
time: 400
beside: yes
"""
import csv
import json
import os
import tempfile

from bench import MPIEXEC, bench, check, main, refused

SHORT = ['--reps', '1', '--time-limit', '0.1', '--verify']
COLLECTIVES = ['barrier', 'bcast', 'reduce', 'allreduce', 'gather', 'scatter', 'allgather',
               'alltoall', 'reduce_scatter']
NATIVE = 'openmpi' in MPIEXEC[0]


def files(np, *args, reserve=0):
    """What the JSON and the CSV file of a run hold, and its table. Only one process writes."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ['r.json', 'r.csv']]
        status, out, err = bench(np, *args, *SHORT, '--json', paths[0], '--csv', paths[1],
                                 RG_RESERVE=str(reserve))
        if not check(status == 0 and not err and out.count('regroup-bench ') == 1, np, args, status,
                     out, err):
            return {'results': []}, [], out
        with open(paths[0]) as f, open(paths[1], newline='') as g:
            return json.load(f), list(csv.DictReader(g)), out


def between(kind, first, second, *args, option=None):
    """A run with so many initiators and responders."""
    option = option or '--%s=%d' % (kind, second)
    spare = 0 if kind == 'split' else second
    if kind == 'split' or not NATIVE:
        return files(first + second, *args, option, reserve=spare)
    return files(first, *args, option)


def check_rows(found, table, kind, first, second):
    check((found.get('inter'), found.get('initiators'), found.get('responders')) ==
          (kind, first, second), found)
    for r, line in zip(found['results'], table):
        check(line['contender'] == r['contender'] and line['inter'] == kind and
              line['initiators'] == str(first) and line['responders'] == str(second) and
              line['among'] == r['among'] and r['ranks'] == first + second, line, r)
        check(0 < r['min'] <= r['median'] <= r['max'], r)
    check(len(table) == len(found['results']) > 0, kind, first, second)


def collectives(kind, first, second, *args, **how):
    """All of them among 6 processes, where both groups have several of them and differ."""
    some = COLLECTIVES if (first, second) == (2, 4) else ['bcast', 'allgather', 'reduce_scatter']
    found, table, out = between(kind, first, second, 'coll', '--sizes', '5000', '--operation',
                                ','.join(some + ['scan', 'exscan']), *args, **how)
    check_rows(found, table, kind, first, second)
    for operation in some:
        there = [(r['contender'], r['among']) for r in found['results']
                 if r['operation'] == operation and r['bytes'] == 5000 * (operation != 'barrier')]
        check(there == [('MPI', 'local'), ('auto', 'local'), ('MPI global', 'global'),
                        ('MPI ' + kind, 'inter')], operation, there)
    check('between %d and %d ranks (%s)' % (first, second, kind) in out and
          'scan is left out' in out and 'exscan is left out' in out and
          not any('scan' in r['operation'] for r in found['results']), out)


def test_split():
    for first, second in [(1, 1), (1, 2), (2, 4), (5, 3)]:
        collectives('split', first, second)
    for timing in ['--each', '--stream']:
        collectives('split', 2, 4, timing)
    for first, second in [(2, 1), (3, 3)]:
        collectives('split', first, second, option='--split')


def test_spawn():
    for first, second in [(1, 1), (1, 2), (2, 4), (5, 3)]:
        collectives('spawn', first, second)


def test_connect():
    for first, second in [(1, 1), (2, 1), (2, 4), (3, 5)]:
        collectives('connect', first, second)


def test_more_in_reserve():
    """Those that are not needed end quietly; a split is of those outside."""
    for kind in ['split'] if NATIVE else ['split', 'spawn', 'connect']:
        found, table, _ = files(6, 'bcast', '--sizes', '8', '--%s=1' % kind, reserve=3)
        check_rows(found, table, kind, 2 if kind == 'split' else 3, 1)


def test_algorithms():
    found, table, _ = between('split', 4, 2, 'bcast', '--sizes', '64', '--algorithms', 'binomial')
    check_rows(found, table, 'split', 4, 2)
    check(['MPI', 'auto', 'binomial', 'MPI global', 'MPI split'] ==
          [r['contender'] for r in found['results']], found['results'])


def test_p2p():
    for kind, first, second, pairs in [('split', 1, 1, 'ends'), ('split', 2, 3, 'neighbours'),
                                       ('spawn', 1, 2, 'ends'), ('connect', 2, 2, 'neighbours')]:
        found, table, _ = between(kind, first, second, 'p2p', '--sizes', '0,5000', '--pairs', pairs)
        check_rows(found, table, kind, first, second)
        ours = [] if NATIVE and kind != 'split' else ['rg_send']
        check([r['contender'] for r in found['results']] ==
              (['MPI global'] + ours + ['MPI ' + kind]) * 4, found['results'])


def test_wrong():
    for args, words in [(['bcast', '--split', '--spawn=1'], 'exclude each other'),
                        (['bcast', '--split=0'], 'no number of processes'),
                        (['bcast', '--connect'], 'how many processes'),
                        (['scan', '--split'], 'does not define it'),
                        (['coll', '--operation', 'scan,exscan', '--split'], 'does not define it'),
                        (['create', '--split'], 'measures nothing between groups'),
                        (['arrays', '--split=1'], 'measures nothing between groups'),
                        (['tune', '--split=1'], 'measures nothing between groups'),
                        (['bcast', '--split', '--ranks', '2'], '--ranks'),
                        (['bcast', '--split=2'], 'both groups need at least 1')]:
        refused(1, args, words)
    if not NATIVE:
        refused(1, ['bcast', '--spawn=1'], 'RG_RESERVE')
    status, out, _ = bench(1, 'bcast', '--help')
    check(status == 0 and '--split' in out and '--connect' in out, out)


main(globals())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-bench: every command that measures, its files, its lists, and wrong options.

time: 240
beside: yes
"""
import csv
import json
import os
import shutil
import tempfile

from bench import BENCH, bench, check, main, near, refused, run_tests

SHORT = ['--reps', '2', '--time-limit', '0.5', '--verify']
COLLECTIVES = ['barrier', 'bcast', 'reduce', 'allreduce', 'gather', 'scatter', 'allgather',
               'alltoall', 'reduce_scatter', 'scan', 'exscan']


def files(np, *args, svg=False, **how):
    """What the JSON and the CSV file of a short run hold, and its table."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {kind: os.path.join(folder, 'r.' + kind) for kind in ['json', 'csv', 'svg']}
        wanted = ['json', 'csv'] + ['svg'] * bool(svg and shutil.which('gnuplot'))
        options = [word for kind in wanted for word in ('--' + kind, paths[kind])]
        status, out, err = bench(np, *args, *SHORT, *options, **how)
        check(status == 0 and not err, np, args, status, err)
        with open(paths['json']) as f:
            found = json.load(f)
        with open(paths['csv'], newline='') as f:
            table = list(csv.DictReader(f))
        if 'svg' in wanted:
            with open(paths['svg']) as f:
                drawn = f.read()
            check('<svg' in drawn and '</svg>' in drawn, args, 'no picture')
        same_rows(found, table)
        return found, out


def same_rows(found, table):
    """The table has what the results have, and the statistics are in order."""
    check(len(table) == len(found['results']) > 0, len(table), found['command'])
    for line, r in zip(table, found['results']):
        check(line['command'] == found['command'] and line['operation'] == r['operation'] and
              int(line['ranks']) == r['ranks'] and int(line['bytes']) == r['bytes'] and
              line['contender'] == r['contender'] and
              line['timing'] == found.get('timing', ''), line, r)
        for name in ['median', 'low', 'high', 'q1', 'q3', 'min', 'max', 'runs', 'outliers']:
            check(near(float(line[name]), float(r[name]), 1e-6), name, line, r)
        check(0 < r['min'] <= r['q1'] <= r['median'] <= r['q3'] <= r['max'], r)


def rows(found, **wanted):
    return [r for r in found['results'] if all(r[k] == v for k, v in wanted.items())]


def test_collectives():
    for np in [2, 3] if run_tests.FULL else [3]:
        for operation in COLLECTIVES:
            found, out = files(np, operation, '--sizes', '8,1000')
            check(found['command'] == operation and found['verified'] is True, found['command'])
            sizes = [0] if operation == 'barrier' else [8, 1000]
            check([(r['bytes'], r['ranks'], r['operation'])
                   for r in rows(found, contender='auto')] == [(n, np, operation) for n in sizes],
                  operation, found['results'])
            check(len(rows(found, contender='MPI')) == len(sizes), operation)
            check('%s on %d ranks' % (operation, np) in out, out)


def test_timings():
    """Each call alone, and calls back to back; also of no bytes."""
    for np in [1, 3] if run_tests.FULL else [3]:
        for timing, text in [('each', 'each call alone'), ('stream', 'calls back to back')]:
            found, out = files(np, 'coll', '--sizes', '0,8,70000', '--' + timing)
            check(found['timing'] == timing and text in out and '/ model' not in out, out)
            for name in ['MPI', 'auto']:
                check([(r['operation'], r['bytes']) for r in rows(found, contender=name)] ==
                      [(o, n) for o in COLLECTIVES
                       for n in ([0] if o == 'barrier' else [0, 8, 70000])], np, timing, name)
            check({r['contender'] for r in found['results']} == {'MPI', 'auto'} and
                  not any('predicted' in r or 'floor' in r for r in found['results']), found)
    found, out = files(3, 'bcast', '--sizes', '8', '--each', '--ranks', '2,3', '--algorithms',
                       'binomial')
    check([(r['ranks'], r['contender']) for r in found['results']] ==
          [(p, c) for p in [2, 3] for c in ['MPI', 'auto', 'binomial']], found)
    found, out = files(2, 'bcast', '--sizes', '8')
    check('timing' not in found and "the slowest rank's" in out, found)


def test_preloaded():
    """What the preloaded library makes of MPI's calls is a contender of its own."""
    if 'asan' in BENCH or 'tsan' in BENCH:
        return
    for extra in [[], ['--each'], ['--stream']]:
        found, _ = files(2, 'coll', '--sizes', '8', *extra, preload='libregroup-mpi.so')
        for operation in COLLECTIVES:
            check([r['contender'] for r in rows(found, operation=operation)] ==
                  ['MPI', 'auto', 'regroup-mpi'], operation, extra, found['results'])


def test_coll():
    """All of them, on two numbers of ranks, with all algorithms and a picture."""
    found, out = files(3, 'coll', '--ranks', '2,3', '--sizes', '64', '--algorithms', 'all',
                       svg=True)
    places = []
    for r in found['results']:
        if (r['ranks'], r['operation']) not in places:
            places.append((r['ranks'], r['operation']))
    check(sorted(places) == sorted((p, o) for p in [2, 3] for o in COLLECTIVES), places)
    for ranks, operation in places:
        check('\n%s on %d ranks\n' % (operation, ranks) in out, operation, ranks)
        names = [r['contender'] for r in rows(found, ranks=ranks, operation=operation)]
        check(names[:2] == ['MPI', 'auto'] and len(set(names)) == len(names) > 2, names)
    check('binomial' in [r['contender'] for r in rows(found, operation='bcast')], 'no binomial')


def test_one_rank():
    found, _ = files(1, 'coll', '--sizes', '8', '--operation', 'bcast,exscan')
    check([r['operation'] for r in rows(found, contender='auto')] == ['bcast', 'exscan'], found)


def test_p2p():
    for np in [2, 3] if run_tests.FULL else [3]:
        for pairs in ['ends', 'neighbours']:
            found, out = files(np, 'p2p', '--sizes', '0,8,5000', '--pairs', pairs, svg=np == 3)
            check([(r['operation'], r['bytes']) for r in rows(found, contender='rg_send')] ==
                  [(k, n) for k in ['pingpong', 'stream'] for n in [0, 8, 5000]], found['results'])
            for r in found['results']:
                check(near(r['bytes_per_second'] * r['median'], r['bytes'], 1e-5) or
                      r['bytes'] == 0, r)
            check('MB/s' in out and found['pairs'] == pairs, out)
    found, _ = files(4, 'p2p', '--sizes', '8', '--ranks', '2,3', '--kinds', 'stream')
    check([r['ranks'] for r in rows(found, contender='MPI')] == [2, 3], found['results'])


def test_arrays():
    for np in [2, 3]:
        found, out = files(np, 'arrays', '--sizes', '8,6000', svg=np == 3)
        names = {'rg_array', 'memory', 'MPI window'}
        for operation, sizes in [('put', [8, 6000]), ('get', [8, 6000]), ('acc', [8, 6000]),
                                 ('read_inc', [0]), ('sync', [0])]:
            for n in sizes:
                there = {r['contender'] for r in rows(found, operation=operation, bytes=n)}
                check(there == names - ({'memory'} if operation == 'sync'
                                                          else set()), operation, n, there)
        for r in found['results']:
            check(0 <= r['shared'] <= 1 if r['operation'] == 'read_inc' else 'shared' not in r, r)
        check("found another rank's increment: rg_array " in out, out)
    found, _ = files(3, 'arrays', '--sizes', '8', '--ranks', '2,3', '--operation', 'acc,sync')
    check([r['ranks'] for r in rows(found, contender='rg_array', operation='sync')] == [2, 3],
          found['results'])


def test_wrong():
    for args, words in [(['coll', '--operation', 'gatherv'], '--operation'),
                        (['coll', '--operation', 'bcast,bcast'], 'named twice'),
                        (['coll', '--ranks', '1,9'], '--ranks'),
                        (['coll', '--ranks', '2,1'], 'must grow'),
                        (['coll', '--algorithms', 'tree,nothing'], "'nothing'"),
                        (['bcast', '--operation', 'reduce'], '--operation'),
                        (['bcast', '--algorithms', 'shaken'], 'binomial'),
                        (['scan', '--sizes', '-1'], '--sizes'),
                        (['coll', '--each', '--stream'], '--each and --stream'),
                        (['scan', '--fresh', '--each'], '--each and --fresh'),
                        (['bcast', '--stream', '--fresh'], '--stream and --fresh'),
                        (['p2p', '--each'], '--each'),
                        (['arrays', '--stream'], '--stream'),
                        (['p2p', '--kinds', 'ping'], 'pingpong'),
                        (['p2p', '--pairs', 'ends,neighbours'], '--pairs'),
                        (['p2p', '--pairs', 'all'], 'neighbours'),
                        (['p2p', '--ranks', '1,2'], '--ranks'),
                        (['p2p', '--sizes', '-1'], '--sizes'),
                        (['arrays', '--operation', 'add'], 'read_inc'),
                        (['arrays', '--sizes', '8,12'], 'multiple of 8'),
                        (['arrays', '--reps', '0'], '--reps'),
                        (['coll', '--csv', '/nonexistent/a.csv'], '/nonexistent')][::1 if run_tests.FULL else 5]:
        refused(2, args, words)
    for command in ['p2p', 'arrays']:
        refused(1, [command], 'at least 2 ranks')
    status, out, _ = bench(1, '--help')
    check(status == 0 and all(c in out for c in COLLECTIVES + ['p2p', 'arrays', 'compare']), out)


main(globals())

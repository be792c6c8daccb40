#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-bench scaling and report: files, lists, warnings, wrong input.

time: 60
beside: yes
"""
import json
import os
import tempfile

from bench import bench, check, main, near, refused, result

ONE_RUN = {'processes': 1, 'seconds': 1.0, 'median': 1.0}


def report(*args):
    return result(0, 'report', *args)


def times(seconds):
    return ','.join('%d:%.17g' % (p, t) for p, t in seconds.items())


def test_amdahl():
    """A program with a serial part gives this part back, in every way there is."""
    for f in [0, 0.05, 0.25, 1]:
        runs = {p: 8 * (f + (1 - f) / p) for p in [1, 2, 3, 4, 7, 64]}
        found, out = report('--times', times(runs))
        check(found['scaling'] == 'strong' and near(found['sequential_seconds'], 8), found)
        check(abs(found['amdahl']['serial_fraction'] - f) < 1e-6, f, found['amdahl'])
        check(found['amdahl']['residual'] < 1e-6, found['amdahl'])
        check(found['remarks'] == [] and 'warning' not in out, found['remarks'])
        for r in found['runs']:
            p = r['processes']
            check(near(r['speedup'], p / (1 + (p - 1) * f)), r)
            check(near(r['efficiency'], r['speedup'] / p) and near(r['cost'], p * runs[p]), r)
            check(abs(r['overhead']['total'] - (p * runs[p] - 8)) < 1e-6, r)
            check(r['karp_flatt'] is None if p == 1 else abs(r['karp_flatt'] - f) < 1e-6, r)
            check(r['granularity'] is r['overhead']['communication'] is None, r)


def test_gustafson():
    f = 0.125
    runs = ','.join('%d:3.0:%.17g' % (p, f + (1 - f) * p) for p in [1, 2, 4, 8])
    found, out = report('--times', runs)
    check(found['scaling'] == 'weak' and 'work' in out, found)
    check(near(found['gustafson']['serial_fraction'], f), found['gustafson'])
    check(found['gustafson']['residual'] < 1e-6, found['gustafson'])
    found, _ = report('--weak', '--times', '1:2,4:2')
    check(found['runs'][1]['speedup'] == 4 and found['cost_optimal'], found)


def test_super_linear():
    for slow, where in [(0, []), (1, [4]), (2, [2, 4])]:
        runs = {1: 12.0, 2: 6 - (slow > 1) * 0.01, 4: 3 - (slow > 0) * 0.01, 8: 1.6}
        found, out = report('--times', times(runs))
        check([r['processes'] for r in found['runs'] if r['super_linear']] == where, slow, found)
        warned = [line for line in out.split('\n') if line.startswith('warning: super-linear')]
        check(len(warned) == len(where) and warned == found['remarks'], warned, found['remarks'])
        for p, line in zip(where, warned):
            check('on %d processes' % p in line, line)


def write(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, 'w') as f:
        f.write(value if isinstance(value, str) else json.dumps(value))
    return path


def test_files():
    """One file with several runs, or several files with rows among others."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [dict(ONE_RUN, computation=0.75, communication=0.25, idle=0.0),
                {'processes': 2, 'median': 0.75, 'computation': 1.0, 'communication': 0.25,
                 'idle': 0.125, 'work': 1}]
        found, out = report(write(folder, 'a', {'results': rows, 'processors': 1}))
        second = found['runs'][1]
        check(second['overhead'] == {'total': 0.5, 'communication': 0.25, 'idle': 0.125,
                                     'extra': 0.25, 'rest': -0.125}, second)
        check(second['granularity'] == 4 and 'granularity' in out, second)
        check(len(found['remarks']) == 1 and found['remarks'][0].startswith('note: there are 1'),
              found['remarks'])
        paths = [write(folder, 'n%d' % np, {'ranks': np, 'results': [
            {'contender': c, 'bytes': b, 'median': t * b / np}
            for c, t in [('MPI', 2.0), ('auto', 1.0)] for b in [8, 64]]}) for np in [4, 2]]
        found, _ = report('--where', 'contender=auto,bytes=64', *paths)
        check([(r['processes'], r['seconds'], r['speedup']) for r in found['runs']] ==
              [(2, 32, 2), (4, 16, 4)], found['runs'])
        check('no run on one process' in found['remarks'][0], found['remarks'])
        refused(0, ['report', *paths], 'more than one time')
        refused(0, ['report', '--where', 'bytes=9', *paths], 'no row with bytes=9')
        mcmc = [write(folder, 'm%d' % p, {'ranks': p, 'seconds': 7.0, 'samples': 100 * p,
                                          'work': 'sleep'}) for p in [8, 16]]
        found, _ = report('--work', 'samples', *mcmc)
        check(found['scaling'] == 'weak' and found['runs'][1]['speedup'] == 16, found)
        found, _ = report('--sequential', '14', *mcmc)
        check(found['scaling'] == 'strong' and found['runs'][0]['speedup'] == 2, found)


def test_scaling():
    """A run is what report reads; the parts make up the whole."""
    for extra, kind in [(['--serial', '0.25'], 'strong'), (['--weak'], 'weak')]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'r.json')
            status, out, err = bench(3, 'scaling', '--work', '1', '--steps', '3', '--reps', '3',
                                     '--json', path, *extra)
            check(status == 0 and not err and 'communication' in out, status, err)
            with open(path) as f:
                found = json.load(f)
            check(found['scaling'] == kind, found)
            check([r['processes'] for r in found['results']] == [1, 2, 3], found)
            for r in found['results']:
                p = r['processes']
                check(r['work'] == (p if kind == 'weak' else 1), r)
                check(min(r['computation'], r['communication'], r['idle']) >= 0, r)
                whole = r['computation'] + r['communication'] + r['idle']
                check(near(whole, p * r['median'], 0.05), whole, p * r['median'])
            found, out = report(path)
            check(found['scaling'] == kind and len(found['runs']) == 3, found)
            for r in found['runs']:
                kinds = r['overhead']
                total = sum(kinds[k] for k in ['communication', 'idle', 'extra', 'rest'])
                check(abs(total - kinds['total']) < 1e-6, r)
            check("Amdahl's law" in out and "Gustafson's law" in out, out)


def test_wrong():
    for args, words in [([], 'give files or --times'), (['--times', '1:2'], 'one run'),
                        (['--times', '1:2,'], '--times'), (['--times', '1:2;2:1'], '--times'),
                        (['--times', '1:2,2:x'], '--times'), (['--times', '0:2,2:1'], '--times'),
                        (['--times', '1:2,1:3'], 'more than one time'),
                        (['--times', '1:2,2:-1'], 'above 0'), (['--times', '1:2,2:nan'], 'above 0'),
                        (['--times', '1:2,2:1:0'], 'above 0'),
                        (['--sequential', '-1', '--times', '1:2,2:1'], '--sequential'),
                        (['/nonexistent.json'], '/nonexistent.json'), (['/dev/null'], 'line 1'),
                        (['--reps', '3'], '--reps')]:
        refused(0, ['report', *args], words)
    refused(2, ['report', '--times', '1:2'], 'one run')
    with tempfile.TemporaryDirectory() as folder:
        for value, words in [('[1]', 'no result'), ({'results': []}, 'no row'),
                             ({'seconds': 1}, 'number of processes'), ({'ranks': 2}, '--time'),
                             ('{"ranks": 2', 'line 1')]:
            refused(0, ['report', write(folder, 'x', value)], words)
    for args, words in [(['--work', '0'], '--work'), (['--serial', '2'], '--serial'),
                        (['--serial', 'nan'], '--serial'), (['--steps', '0'], '--steps'),
                        (['--bytes', '12'], '--bytes'), (['--sizes', '1,9'], '--sizes')]:
        refused(2, ['scaling', *args], words)


main(globals())

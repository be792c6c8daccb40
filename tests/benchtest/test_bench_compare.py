#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-bench compare: verdicts, which rows belong together, exit status, wrong files.

tier: quick
beside: yes
"""
import json
import os
import tempfile

from bench import bench, check, main, near, refused, result


def row(median, spread=0.01, **key):
    key = {'contender': 'auto', **key}
    return dict(key, median=median, low=median * (1 - spread), high=median * (1 + spread))


def write(folder, name, rows, **facts):
    path = os.path.join(folder, name)
    with open(path, 'w') as f:
        f.write(rows if isinstance(rows, str) else json.dumps(dict(facts, results=rows)))
    return path


def compare(before, now, *args, **facts):
    """The JSON file's and the table's content, and the status with --fail-slower."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(folder, 'a.json', before, **facts), write(folder, 'b.json', now, **facts)]
        found, out = result(0, 'compare', *args, *paths)
        status, _, err = bench(0, 'compare', '--fail-slower', *args, *paths)
        check(status == (1 if found['slower'] else 0) and not err, status, err, found)
        return found, out


def test_verdicts():
    before = [row(1e-6, bytes=n) for n in range(1, 7)]
    now = [row(1e-6, bytes=1), row(2e-6, bytes=2), row(0.5e-6, bytes=3),
           row(2e-6, 0.9, bytes=4), row(1.03e-6, 0.001, bytes=5), row(1.06e-6, bytes=6)]
    for args, verdicts in [([], ['same', 'slower', 'faster', 'same', 'same', 'slower']),
                           (['--threshold', '10'],
                            ['same', 'slower', 'faster', 'same', 'same', 'same']),
                           (['--threshold', '0'],
                            ['same', 'slower', 'faster', 'same', 'slower', 'slower']),
                           (['--threshold', '200'], ['same'] * 6)]:
        found, out = compare(before, now, *args)
        check([r['verdict'] for r in found['rows']] == verdicts, args, found['rows'])
        for word in ['same', 'slower', 'faster']:
            check(found[word] == verdicts.count(word), word, found)
            check(out.count('  %s\n' % word) == verdicts.count(word), word, out)
        for r, b in zip(found['rows'], now):
            check(near(r['ratio'], b['median'] / 1e-6) and near(r['now'], b['median']), r)


def test_rows():
    """Matched by all that names them, in any order; what one file lacks is counted."""
    keys = [dict(operation=o, ranks=p, bytes=n, contender=c) for o in ['bcast', 'scan']
            for p in [2, 4] for n in [8, 64] for c in ['MPI', 'auto']]
    before = [row(1 + i, **k) for i, k in enumerate(keys)]
    now = [row(2 * (1 + i), **k) for i, k in enumerate(keys)]
    found, _ = compare(before, now[::-1])
    check(found['slower'] == len(keys) and found['rows'][0]['row'] == 'bcast MPI ranks=2 bytes=8',
          found)
    found, out = compare(before[1:], now[:-2])
    check(found['only_before'] == 2 and found['only_now'] == 1 and found['slower'] == 13, found)
    check('2 only before, 1 only now' in out, out)
    # Times of another kind are other rows.
    found, _ = compare(before, now, timing='each')
    check(found['rows'][0]['row'] == 'bcast MPI each ranks=2 bytes=8', found)
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(folder, kind or 'usual', [row(1, bytes=8)], ranks=2,
                       **{'timing': kind} if kind else {}) for kind in ['each', 'stream', None]]
        for i in range(3):
            refused(0, ['compare', paths[i], paths[i - 1]], 'no row in common')
    # An older file says the operation once for all its rows.
    with tempfile.TemporaryDirectory() as folder:
        old = write(folder, 'a', [row(1, bytes=8)], operation='bcast', ranks=2)
        new = write(folder, 'b', [row(1, bytes=8, operation='bcast', ranks=2)], operation='all')
        found, _ = result(0, 'compare', old, new)
        check(found['same'] == 1, found)
        status, out, err = bench(2, 'compare', old, new)
        check(status == 0 and out.count('1 the same') == 1 and not err, out, err)


def test_own_files():
    """What the program writes it can compare."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'a')
        status, _, err = bench(2, 'create', '--reps', '2', '--json', path)
        check(status == 0 and not err, err)
        found, _ = result(0, 'compare', path, path)
        check(found['same'] == len(found['rows']) == 7, found)


def test_wrong():
    good = [row(1, bytes=8)]
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, 'good', good)
        for args, words in [([], 'two files'), ([path], 'two files'), ([path] * 3, 'two files'),
                            ([path, '/nonexistent.json'], 'compare: unable to open /nonexistent.json'),
                            ([path, path, '--threshold', '-1'], '--threshold'),
                            ([path, path, '--threshold', 'nan'], '--threshold'),
                            ([path, path, '--reps', '3'], '--reps')]:
            refused(0, ['compare', *args], words)
        for rows, words in [('{"results": 3}', 'no results'), ('[]', 'no results'),
                            ('{"results": [', 'line 1'), ([], 'no row in common'),
                            ([row(1, bytes=9)], 'no row in common'), (good * 2, 'more than one'),
                            ([dict(good[0], low=2)], 'no median'),
                            ([{'contender': 'auto', 'bytes': 8}], 'no median')]:
            bad = write(folder, 'bad', rows)
            refused(0, ['compare', path, bad], words)
            refused(0, ['compare', bad, path], words)


main(globals())

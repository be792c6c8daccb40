#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""tests/bench/polite.py: every loop by every contender, right results, its table and its file, and
the interval of a median.

tier: all
time: 120
beside: yes
"""
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../bench'))
sys.dont_write_bytecode = True
import polite
from bench import BUILD, MPIEXEC, check, main, near, script, skip_sanitized

skip_sanitized()


def test_all():
    with tempfile.TemporaryDirectory() as folder:
        path = folder + '/p.json'
        # Open MPI can make no window on one process (4.1.4: MPI_ERR_WIN).
        ranks = [2] if 'openmpi' in MPIEXEC[0] else [1, 2]
        done = script(polite.__file__, BUILD, '--ranks', ','.join(map(str, ranks)), '--pairs', '2', '--seconds',
                   '0.0001', '--mpiexec', ' '.join(MPIEXEC), '--json', path)
        check(done.returncode == 0 and not done.stderr, done)
        with open(path) as f:
            found = json.load(f)
    check([(r['ranks'], r['kind'], r['contender']) for r in found['results']] ==
          [(n, k, c) for n in ranks for k in polite.KINDS for c in polite.CONTENDERS], found)
    for i, r in enumerate(found['results']):
        plain = found['results'][i - i % 3]
        ratios = [a / b for a, b in zip(r['seconds'], plain['seconds'])]
        check(len(ratios) == 2 and near(r['ratio'], statistics.median(ratios)) and
              r['low'] <= r['ratio'] <= r['high'], r)
        check('%.3f' % r['ratio'] in done.stdout, r, done.stdout)


def test_interval():
    """Known order statistics: of 15 the 4th and the 12th, of 6 the ends."""
    check(polite.interval(range(1, 16)) == (4, 12), polite.interval(range(1, 16)))
    check(polite.interval([6, 5, 4, 3, 2, 1]) == (1, 6), 'six')
    check(polite.interval([3, 1]) == (1, 3), 'two')
    check(polite.interval([7]) == (7, 7), 'one')


def test_wrong():
    for args, words in [(['--kinds', 'wait'], 'threads'), (['--ranks', '0'], '--ranks')]:
        done = script(polite.__file__, BUILD, *args)
        check(done.returncode == 2 and words in done.stderr, args, done)
    done = script(polite.__file__, '/nonexistent')
    check(done.returncode == 1 and 'not built' in done.stderr, done)


main(globals())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""tests/bench/nonblocking.py: every operation, size and contender, right results, its file, which cells
it and table.py complain of, and that a program with a wrong result fails.

time: 60
beside: yes
"""
import io
import json
import os
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../bench'))
sys.dont_write_bytecode = True
import nonblocking
import table
from bench import BUILD, MPIEXEC, check, main, script, skip_sanitized

skip_sanitized()

OPERATIONS = ['ibarrier', 'ibcast', 'igather', 'igatherv', 'iscatter', 'iscatterv', 'iallgather',
              'iallgatherv', 'ialltoall', 'ialltoallv', 'ireduce', 'iallreduce', 'ireduce_scatter',
              'iscan']


def test_all():
    with tempfile.TemporaryDirectory() as folder:
        path = folder + '/n.json'
        done = script(nonblocking.__file__, BUILD, '--ranks', '2,3', '--pairs', '1', '--longest', '2048', '--calls', '2',
                   '--mpiexec', ' '.join(MPIEXEC), '--json', path)
        check(done.returncode == 0 and not done.stderr, done)
        with open(path) as f:
            found = json.load(f)['cells']
    check([(c['ranks'], c['waiting'], c['way'], c['operation'], c['bytes']) for c in found] ==
          [(n, other, way, o, size) for n, other in [(2, 'polite'), (2, 'plain'), (3, 'polite')]
           for way in ['each', 'stream'] for o in OPERATIONS
           for size in ([0] if o == 'ibarrier' else [0, 8, 128, 2048])], found)
    check(all(0 < c['low'] <= c['ratio'] <= c['high'] and c['ours'] > 0 for c in found), found)
    check('ialltoallv        18 cells' not in done.stdout and
          'ialltoallv        24 cells' in done.stdout, done.stdout)


def test_wrong_result():
    """Rank 0 gives other data than it should."""
    program = os.path.join(BUILD, 'tests/plain_nonblocking')
    done = subprocess.run([*MPIEXEC, '-n', '2', program, '8', '2', 'damage'], capture_output=True,
                          text=True)
    check(done.returncode != 0 and 'ialltoall 8 ' in done.stdout and 'wrong' in done.stdout, done)


def test_complaints():
    cell = {'operation': 'ibcast', 'bytes': 8, 'ranks': 2, 'way': 'each', 'waiting': 'plain',
            'mpi': 1e-6, 'ours': 2e-6, 'ratio': 0.5, 'low': 0.4, 'high': 0.6}
    cells = [cell, dict(cell, mpi=0.05e-6, ours=0.06e-6), dict(cell, high=0.96),
             dict(cell, mpi=0.05e-6, ours=0.08e-6)]
    check([table.fails(c) for c in cells] == [True, False, False, True], 'cells')
    text = io.StringIO()
    with redirect_stdout(text):
        table.tell(cells)
    check('4 cells, the median of all 0.50; 2 below 0.95' in text.getvalue() and
          text.getvalue().count('| ibcast | 8 |') == 2, text.getvalue())


def test_refused():
    done = script(nonblocking.__file__, '/nonexistent')
    check(done.returncode == 1 and 'not built' in done.stderr, done)


main(globals())

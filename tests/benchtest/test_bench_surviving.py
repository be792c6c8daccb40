#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""tests/bench/surviving.py: every call and size by every contender, and what is refused.

time: 60
beside: yes
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../bench'))
sys.dont_write_bytecode = True
import surviving
from bench import BUILD, MPIEXEC, check, main, script, skip_sanitized

skip_sanitized()
CALLS = ['MPI_Send', 'MPI_Isend', 'MPI_Ssend', 'MPI_Bcast', 'MPI_Allreduce', 'MPI_Alltoall', 'MPI_Iallreduce']


def run(*more):
    done = script(surviving.__file__, BUILD, '--ranks', '2', '--runs', '1', '--mpiexec', ' '.join(MPIEXEC), *more)
    check(done.returncode == 0 and not done.stderr, done)
    rows = [re.fullmatch(r'(\w+) +(\d+) B  (.*)', line).groups() for line in done.stdout.splitlines()]
    check(sorted((name, int(size)) for name, size, _ in rows) ==
          sorted([('MPI_Barrier', 8)] + [(name, size) for name in CALLS for size in [8, 1024, 32768, 1 << 20]]), rows)
    return [[re.fullmatch(r'(.+) (\S+) us, (\S+)', cell).groups() for cell in cells.split('; ')] for *_, cells in rows]


def test_surviving():
    for cells in run():
        check([name for name, *_ in cells] == ['plain', 'surviving', 'plain, all transports'], cells)
        check(cells[0][2] == '1.000' and all(float(us) > 0 and float(ratio) > 0 for _, us, ratio in cells), cells)


def test_before():
    for cells in run('--before', BUILD):
        check([name for name, *_ in cells] == ['before', 'now'], cells)


def test_refused():
    done = script(surviving.__file__, '/nonexistent')
    check(done.returncode == 1 and 'status' in done.stderr, done)


main(globals())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Programs of MPI alone in jobs with processes in reserve, preloaded: MPI_COMM_WORLD is without them in
every call, MPI_Comm_spawn takes them, and a program that shrinks, spawns, merges and reorders ends with
the result of a job without deaths, whoever dies when, on one node and on two.

time: 180
beside: yes
few: 2
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'recovery'))
import deaths  # noqa: E402
import jobs  # noqa: E402
from preload import LIBRARY, skip, skip_sanitized, under  # noqa: E402

skip_sanitized()
if not jobs.OVER_UCX:
    skip('calls of this MPI cannot be interrupted')
ROUNDS = 60
REPAIRS = [-3, -2, -1]  # plain_respawn.c
TIMED = 100000


def run(where, workers, reserve, program, *arguments):
    env = dict(deaths.ENV, **where.env, RG_RESERVE=str(reserve))
    status, text = jobs.output([*where.begin(workers + reserve), '-n', str(workers + reserve),
                                *under(LIBRARY, program, *map(str, arguments))], env)
    return status, deaths.SURVIVED.sub('', text)


def check(where, workers, reserve, plan, generation=None):
    status, text = run(where, workers, reserve, 'tests/plain_respawn', plan, ROUNDS)
    assert status == 0 and 'WRONG' not in text and 'RESULT %d ' % workers in text and text.count('RESULT') == 1 and (
        generation is None or 'RESULT %d %d 0\n' % (workers, generation) in text), \
        (where.name, workers, reserve, plan, status, text)


def test_calls():
    for where in jobs.SURVIVED:
        for workers, reserve in [(1, 1), (2, 4), (3, 4), (7, 1)]:
            status, text = run(where, workers, reserve, 'tests/plain_spawn', workers, reserve)
            assert status == 0 and 'WRONG' not in text and text.count('OK') == 1, \
                (where.name, workers, reserve, status, text)


def test_threads():
    for where in jobs.SURVIVED:
        for workers, per in [(1, 1), (4, 1), (2, 2)]:
            for _ in range(5 if jobs.FULL else 2):
                status, text = run(where, workers, 6 * per, 'tests/plain_spawn_threads', per)
                assert status == 0 and 'WRONG' not in text and text.count('OK') == 1, \
                    (where.name, workers, per, status, text)


def test_plans():
    for where in jobs.SURVIVED:
        for workers, reserve, plan, generation in [
                (1, 1, '', 0), (2, 1, '1:7:0', 1), (3, 2, '0:3:0,2:3:0', 1), (4, 2, '1:5:0,2:40:1', 2),
                (4, 3, '3:0:0,3:9:1,0:50:2', 3), (7, 2, '1:3:0,6:30:1', 2)]:
            check(where, workers, reserve, plan, generation)
        for rank, point, generation in [(0, -3, 0), (0, -2, 1), (2, -2, 1), (1, -1, 1), (2, -1, 1)]:
            check(where, 3, 6, '1:7:0,%d:%d:%d' % (rank, point, generation))


def random_plan(workers):
    plan = ['%d:%d:0' % (random.randrange(workers), random.randrange(ROUNDS))]
    for _ in range(random.randint(0, 2)):
        when = random.choice([random.randrange(ROUNDS), TIMED + random.randrange(200000)] + REPAIRS)
        plan.append('%d:%d:%d' % (random.randrange(workers), when, random.randint(0, 2)))
    return ','.join(plan)


def test_random():
    random.seed(jobs.SEED)
    for _ in range(100 if jobs.FULL else 2):
        where, workers = random.choice(jobs.SURVIVED), random.randint(4, 5)
        check(where, workers, 8, random_plan(workers))


def test_fortran():
    if not shutil.which('mpifort.mpich') or not shutil.which('gfortran'):
        return
    with tempfile.TemporaryDirectory() as folder:
        program = folder + '/fortran_spawn'
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fortran_spawn.f90')
        subprocess.run(['mpifort.mpich', '-J' + folder, source, '-o', program], check=True)
        for n in [1, 3]:
            status, text = run(jobs.ONE, n, 1, program)
            assert status == 0 and 'WRONG' not in text and 'spawned child 1 1\n' in text and \
                'world %d sum %d\n' % (n, n * (n + 1) // 2 + 1) in text, (n, status, text)


test_calls()
test_threads()
test_fortran()
test_plans()
test_random()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A program of MPI alone, with libregroup-mpi.so preloaded, goes on after ranks have been killed, by the
calls of MPI's fault-tolerance extension. See plain_fault.c.

time: 120
beside: yes
few: 2
"""
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'recovery'))
import deaths  # noqa: E402
import jobs  # noqa: E402
from preload import LIBRARY, make_tool, skip, skip_sanitized, under  # noqa: E402

skip_sanitized()
if not jobs.OVER_UCX:
    skip('calls of this MPI cannot be interrupted')
ROUNDS = 100


def run(where, np, program, *arguments, survives=True, libraries=LIBRARY, **more):
    env = dict(deaths.ENV, **where.env, **more)
    if not survives:
        del env['RG_SURVIVE']
    status, text = jobs.output([*where.begin(np), '-n', str(np), *under(libraries, program, *map(str, arguments))], env)
    return status, deaths.SURVIVED.sub('', text)


def check(where, np, plan, killed):
    status, text = run(where, np, 'tests/plain_fault', plan, ROUNDS)
    assert status == 0 and 'WRONG' not in text and 'RESULT %d %d 0\n' % (np - killed, killed) in text, \
        (where.name, np, plan, status, text)


def test_plans():
    for where in jobs.SURVIVED:
        for np, plan in [(1, ''), (2, '0:7'), (3, '1:0'), (4, '3:1'), (4, '0:40,2:41'), (7, '1:3,2:3,6:62')]:
            if where.count <= np - len(re.findall(':', plan)):
                check(where, np, plan, len(re.findall(':', plan)))


def test_random():
    random.seed(jobs.SEED)
    for _ in range(30 if jobs.FULL else 3):
        where, np = random.choice(jobs.SURVIVED), random.randint(3, 7)
        dying = random.sample(range(np), random.randint(1, np - 2))
        check(where, np, ','.join('%d:%d' % (r, random.randrange(ROUNDS)) for r in dying), len(dying))


def test_start():
    """A death in MPI_Init ends the job before all have started, and is survived afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        libraries = make_tool(folder, 'dying_tool') + ':' + LIBRARY
        for where in jobs.SURVIVED:
            for call in 1, 2, 3:
                status, text = run(where, 4, 'tests/plain_fault', '', ROUNDS, libraries=libraries,
                                   DYING_RANK=str(call), DYING_CALL=str(call))
                early = deaths.is_early(status, text, where.launchers)
                assert early or (call > 2 and status == 0 and 'WRONG' not in text and 'RESULT 3 1 0\n' in text), \
                    (where.name, call, status, text)


def test_beside_a_tool():
    """That calls MPI by the names PMPI_...: in either order the calls end after a death."""
    with tempfile.TemporaryDirectory() as folder:
        tool = make_tool(folder, 'passing_tool')
        for order, sees in [((tool, LIBRARY), 1), ((LIBRARY, tool), 0)]:
            status, text = run(jobs.TWO, 4, 'tests/plain_fault', '1:3,3:41', ROUNDS, libraries=':'.join(order))
            assert status == 0 and 'WRONG' not in text and 'RESULT 2 2 0\n' in text, (order, status, text)
            assert text.count('SEEN') == 2 * sees, (order, text)


def test_fatal():
    """As with any other error of MPI's, the job ends."""
    status, text = run(jobs.ONE, 3, 'tests/plain_fault', '1:4', ROUNDS, 'fatal')
    assert status != 0 and 'RESULT' not in text and re.search(r'^regroup: MPI_\w+: .*has died', text, re.M), \
        (status, text)


def test_other_jobs():
    """Without guards the extension's calls are errors, and nothing else changes."""
    status, text = run(jobs.ONE, 2, 'tests/plain_fault', '', 1, 'fatal', survives=False)
    assert status != 0 and 'this job tolerates no faults: start it by regroup-run' in text, (status, text)


    status, text = run(jobs.ONE, 2, 'tests/plain_fault', '', 1, 'fatal', MPIR_CVAR_CH4_NUM_VCIS='1')
    assert status != 0 and 'this job tolerates no faults: calls of this MPI cannot be interrupted' in text, (status, text)


def through_shell(np, script, *arguments):
    where = jobs.ONE
    words = [*where.begin(np), '-genv', 'LD_PRELOAD', jobs.path(LIBRARY), '-n', str(np), 'sh', '-c', script, 'sh', *arguments]
    status, text = jobs.output(words, dict(deaths.ENV, **where.env))
    return status, deaths.SURVIVED.sub('', text)


def test_shells():
    """A program without MPI ends when it likes, also long after another process; one that a shell starts
    survives."""
    status, text = through_shell(2, 'sleep $((PMI_RANK * 3)); echo end')
    assert (status, text) == (0, 'end\nend\n'), (status, text)
    status, text = through_shell(3, '"$@"; exit $?', jobs.path('tests/plain_fault'), '1:3', str(ROUNDS))
    assert status == 0 and 'RESULT 2 1 0\n' in text, (status, text)


test_plans()
test_start()
test_shells()
test_random()
test_beside_a_tool()
test_fatal()
test_other_jobs()

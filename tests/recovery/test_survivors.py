#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Ranks of one node are killed: the others notice, agree and go on with the right results; the
exit status tells the truth; nothing is left behind. See survivors.c and soak.py.

time: 300
beside: yes
"""
import os
import random
import re

import deaths
import jobs

PROGRAM = 'tests/survivors'
RUNS, LIFE = 20 if jobs.FULL else 4, 1.2


def test_plans():
    """Deaths at known rounds: of the first, of the last, of two at once, of all but one."""
    for np, plan, left in [(1, '', 1), (2, '0:5', 1), (3, '2:0', 2), (4, '1:30', 3),
                           (4, '0:30,3:30', 2), (5, '3:40,0:41,1:90', 2),
                           (7, '0:9,1:9,2:9,3:9,4:9,5:9', 1)]:
        status, text = jobs.run(np, PROGRAM, plan, 300)
        found = re.search(r'^RESULT 300 (\d+) (\d+) ', text, re.M)
        assert status == 0 and found, (np, plan, status, text)
        assert (int(found[1]), int(found[2])) == (left, np - left), (np, plan, text)


def test_levels():
    """The same where ranks poll by levels: a leaf, a leader and the first rank die."""
    env = dict(deaths.ENV, RG_OVERSUBSCRIBED='no', RG_WAIT='yield',
               RG_TOPOLOGY='pack:2 l3:2 core:3 pu:1', RG_BIND='compact')
    for plan, left in [('5:30', 11), ('6:30,9:60', 10), ('0:31,3:31,4:90', 9)]:
        status, text = jobs.run(12, PROGRAM, plan, 150, env=env)
        found = re.search(r'^RESULT 150 (\d+) (\d+) ', text, re.M)
        assert status == 0 and found, (plan, status, text)
        assert (int(found[1]), int(found[2])) == (left, 12 - left), (plan, text)


def test_bystanders():
    """Groups without the dead see nothing of it."""
    for np in 4, 7:
        status, text = jobs.run(np, 'tests/bystanders')
        assert status == 0 and 'MERGED %d\n' % (np - 1) in text, (np, status, text)


def test_arrays():
    """The arrays of the dead are the survivors'."""
    for np in 2, 4, 7:
        status, text = jobs.run(np, 'tests/lock_holders')
        assert status == 0 and 'KEPT %d\n' % max(1, np - 3) in text, (np, status, text)


def test_example():
    """example-recover ends with the undisturbed checksum, also when a leader dies in a merge."""
    program, small = 'bin/example-recover', ['--points', '40', '--phases', '10', '--steps', '5']
    expected = re.search(r'^checksum \w+', jobs.run(1, program, *small)[1], re.M)[0]
    for np, kills in (2, '0:0.05'), (4, '2:merge'), (4, '0:merge,3:0.1'), (7, '4:merge,0:0.1,5:0.1'):
        status, text = jobs.run(np, program, *small, '--kill', kills)
        assert status == 0 and expected in text, (np, kills, expected, status, text)
        assert 'merge' not in kills or ' died in phase 6; ' in text, text


def test_no_process_left():
    """The last rank dies as well: the job ends with one clear error, and soon; so it does when
    some die before rg_init."""
    for np, plan, why in ((1, '0:5', 'no process is left'), (3, '0:5,1:40,2:80', 'no process is left'),
                          (7, ','.join('%d:5' % r for r in range(7)), 'no process is left'),
                          (7, '1:-2,2:-2,3:-2,5:-2', 'before rg_init had returned everywhere')):
        status, text = jobs.run(np, PROGRAM, plan, 300)
        assert deaths.is_loss(status), (np, status, text)
        assert text.count('the job ends\n') == 1, (np, status, text)
        assert 'RESULT' not in text, (np, status, text)
        assert why + ': the job ends\n' in text, (np, status, text)


def test_launcher():
    """regroup-run passes all else on to mpiexec, and its status is the job's."""
    env = {k: v for k, v in os.environ.items() if k not in ('RG_SURVIVE', 'UCX_TLS')}

    def start(*args):
        return jobs.output([jobs.path('bin/regroup-run'), *args], env)

    status, text = start('-n', '3', '-l', jobs.path(PROGRAM), '1:20', '100')
    assert status == 0 and re.search(r'^\[\d\] RESULT 100 2 1 ', text, re.M), (status, text)
    assert start('-n', '2', 'sh', '-c', 'exit 7')[0] == 7
    status, text = start('--version')
    assert status == 0 and re.fullmatch(r'regroup-run [\d.]+\n', text), text
    assert start('--help')[1].startswith('Usage: regroup-run ')


def test_undisturbed():
    """Without a death, and with a guard or not, a program's own status is the job's."""
    assert jobs.run(2, PROGRAM, '', 'x')[0] == 0  # no rounds at all
    assert jobs.run(3, PROGRAM, '', 50, env=dict(os.environ))[0] == 0


def test_random(seed):
    """At random moments from the start on: before rg_init has returned everywhere the job ends
    with an error, afterwards it goes on. On a busy machine all may die before it."""
    random.seed(seed)
    ends, life = [], LIFE
    while len(ends) < RUNS or (not any(ends) and life < 60):
        np = random.choice([2, 3, 4, 6])
        status, text, killed, early = jobs.run_and_kill(np, PROGRAM, '', 1500, life=life)
        well = status == 0 and re.search(r'^RESULT 1500 \d+ \d+ ', text, re.M)
        assert well or early, (seed, np, killed, status, text)
        ends.append(bool(well))
        life = LIFE if well else 1.5 * life
    assert any(ends), 'no job survived'


test_plans()
test_levels()
test_undisturbed()
test_bystanders()
test_arrays()
test_example()
test_no_process_left()
test_launcher()
test_random(jobs.SEED)

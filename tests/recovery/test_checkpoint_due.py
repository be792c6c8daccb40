#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A signal to one rank, or the end of the job's time, becomes a point at which all save once and end
with status 99; what is started again continues to the right result. Also when ranks die, and when
the guards get the signal too. Without the calls a signal does what it always did. See halting.c and
stopping.c.

time: 240
beside: yes
"""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import deaths
import jobs

PROGRAM = 'tests/halting'
STEPS = 100
PLAIN = dict(os.environ)
REQUEUE = 99


def run(np, path, plan, *more, env=PLAIN, steps=STEPS):
    """Status, the word of the last line, its numbers, and all text."""
    status, text = jobs.run(np, PROGRAM, path, steps, plan, *more, env=env)
    return (status, *result(text), text)


def result(text):
    found = re.findall(r'^(HALTED|DONE) (\d+) (\d+) (\d+)$', text, re.M)
    assert len(found) < 2, text
    return (found[0][0], [int(n) for n in found[0][1:]]) if found else (None, [])


def newest(path):
    """The number of the newest checkpoint; how many there have been, if no rank has died."""
    numbers = [0]
    for name in path + '.0', path + '.1':
        if os.path.exists(name):
            with open(name, 'rb') as f:
                f.seek(16)
                numbers.append(int.from_bytes(f.read(8), sys.byteorder))
    return max(numbers)


def finish(path, np, halted, env=PLAIN, steps=STEPS):
    status, word, numbers, text = run(np, path, '', env=env, steps=steps)
    assert (status, word, numbers) == (0, 'DONE', [steps, halted, np]), (status, text)


def check_halt(path, np, plan, env=PLAIN):
    """Returns 0 if the signal came too late: the program had ended."""
    status, word, numbers, text = run(np, path, plan, env=env)
    if status == 0 and word == 'DONE' and re.search(r':\d', plan):
        return 0
    assert status == REQUEUE and word == 'HALTED', (np, plan, status, text)
    assert newest(path) == numbers[0] // 10 + 1, (np, plan, newest(path), text)
    finish(path, random.choice([1, 2, 3]), numbers[0])
    return 1


def test_one_signal(folder):
    halted = 0
    for np in 1, 2, 3, 4, 7:
        plan = '%d:%d' % (random.randrange(np), random.randint(1, 500))
        halted += check_halt(os.path.join(folder, 'one%d' % np), np, plan)
    assert halted, 'every program had ended before its signal'


def test_several(folder):
    """Two at once; during a checkpoint; both."""
    for i, (np, plan) in enumerate([(2, '0:50,1:50'), (4, '1:51,3:50'), (3, '2:s30'), (1, '0:s10'),
                                    (4, '0:s20,1:s20,3:s20')]):
        check_halt(os.path.join(folder, 'several%d' % i), np, plan)


def test_plain(folder):
    """A program that has not asked ends by the signal."""
    status, word, _, text = run(2, os.path.join(folder, 'plain'), '1:s20', 'plain')
    assert status not in (0, REQUEUE) and not word, (status, text)


def test_time(folder):
    """Saved before the end, and once; enough time: not at all."""
    for i, name in enumerate(['RG_END_TIME', 'SLURM_JOB_END_TIME']):
        path, end = os.path.join(folder, name), int(time.time()) + 30
        env = dict(PLAIN, RG_END_MARGIN='28', **{name: str(end)})
        status, word, numbers, text = run(2 + i, path, '', env=env, steps=100000)
        assert status == REQUEUE and word == 'HALTED', (status, text)
        assert newest(path) == numbers[0] // 10 + 1, (newest(path), text)
        assert max(os.stat(path + g).st_mtime for g in ('.0', '.1') if os.path.exists(path + g)) < end
        env = dict(PLAIN, **{name: str(end + 3600)})
        finish(path, 2, numbers[0], env, numbers[0] + 20)


def test_deaths(folder):
    """One rank dies, by the signal's time or later; another one has the signal."""
    for i, (np, plan) in enumerate([(2, '1:k20,0:s21'), (4, '0:k30,2:s30'), (4, '2:k25,0:s20')]):
        path = os.path.join(folder, 'dead%d' % i)
        status, word, numbers, text = run(np, path, plan, env=deaths.ENV)
        assert status == REQUEUE and word == 'HALTED', (np, plan, status, text)
        finish(path, 2, numbers[0])


def is_newer(path, than):
    return newest(path) > than


def wait_until(job, done, *arguments):
    while not done(*arguments):
        assert job.poll() is None, job.communicate()
        time.sleep(0.02)


def test_guards(folder):
    """The signal reaches the guards as well, after the node's first rank has died: its guard, the
    node's daemon, stays until the others have saved."""
    for i, where in enumerate([jobs.ONE, jobs.TWO]):
        path = os.path.join(folder, 'guards%d' % i)
        job = jobs.start(jobs.command(where, 4, PROGRAM, path, 100000, ''),
                         dict(deaths.ENV, **where.env))
        wait_until(job, is_newer, path, 1)
        ranks = {deaths.rank_of(pid): pid for pid in deaths.ranks_of(job.pid, 'halting')}
        guards = [parent_of(pid) for pid in ranks.values()]
        os.kill(ranks.pop(0), signal.SIGKILL)
        wait_until(job, is_newer, path, newest(path) + 1)
        for pid in guards + list(ranks.values()):
            os.kill(pid, signal.SIGTERM)
        status, text = jobs.end_of(job)
        word, numbers = result(text)
        assert status == REQUEUE and word == 'HALTED' and numbers[2] == 3, (where.name, status, text)
        finish(path, 3, numbers[0], steps=numbers[0] + 5)


def parent_of(pid):
    with open('/proc/%d/stat' % pid) as f:
        return int(f.read().rsplit(')', 1)[1].split()[1])


def test_launcher(folder):
    """A signal to the launcher is passed on to the ranks. mpiexec then sometimes ends with 0."""
    for sign, env in (signal.SIGTERM, PLAIN), (signal.SIGTERM, deaths.ENV), (signal.SIGUSR1, PLAIN), \
            (signal.SIGUSR1, deaths.ENV):
        path = os.path.join(folder, 'launcher%d%d' % (sign, env is PLAIN))
        job = subprocess.Popen(jobs.command(jobs.ONE, 3, PROGRAM, path, 100000, ''), env=env,
                               **deaths.READ)
        wait_until(job, is_newer, path, 0)
        os.kill(job.pid, sign)
        status, text = jobs.end_of(job)
        word, numbers = result(text)
        assert status in (REQUEUE, 0) and word == 'HALTED', (sign, status, text)
        finish(path, 2, numbers[0], steps=numbers[0] + 5)


def stop(np, policy, walkers, plan, *alike, where=jobs.ONE, env=PLAIN):
    """How many walkers had work left."""
    status, text = jobs.run(np, 'tests/stopping', policy, walkers, plan, *alike, where=where, env=env)
    found = re.search(r'^STOPPED (\d+) %d$' % walkers, text, re.M)
    assert status == 0 and found, (where.env, np, policy, walkers, plan, alike, status, text)
    return int(found[1])


def test_walkers():
    """Balancing ends early: on one node and two, also for idle ranks' signals, and when ranks die."""
    policies = ['none', 'join-right', 'share-out:cost=0', 'sync:i=2', 'release:gain=0.5']
    all_left = 0
    for i, np in enumerate([1, 2, 3, 4, 7] if jobs.FULL else [1, 4]):
        for where in jobs.ONE, jobs.TWO:
            policy, alike = random.choice(policies), random.choice([[], ['alike']])
            rank, at = random.randrange(np), random.choice([1, random.randint(2, 20)])
            left = stop(np, policies[i], 14, '%d:-2' % rank, *alike, where=where)
            assert left, 'the run did not end early'
            all_left += left == 14 and np > 1 and where is jobs.TWO
            stop(np, policy, 14, '%d:%d' % (rank, at), *alike, where=where)
    assert all_left, 'the other node has never ended early'
    for where in jobs.ONE, jobs.TWO:
        stop(4, 'share-out:cost=0', 14, '1:k6,0:7', where=where, env=deaths.ENV)
        stop(4, 'sync:i=2', 14, '0:k6,3:6', where=where, env=deaths.ENV)


random.seed(jobs.SEED)
test_walkers()
with tempfile.TemporaryDirectory() as folder:
    test_one_signal(folder)
    test_several(folder)
    test_plain(folder)
    test_time(folder)
    test_deaths(folder)
    test_guards(folder)
    test_launcher(folder)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Checkpoints when processes are killed: a rank while it writes, at a known step and at random
moments; all of them. The last one that was complete is always there. See saver.c.

time: 240
beside: yes
"""
import fcntl
import os
import random
import re
import signal
import sys
import tempfile
import time

import deaths
import jobs

PROGRAM = 'tests/saver'
STEPS = 8


def run(np, *args):
    return jobs.run(np, PROGRAM, *args)


def saved(text):
    return re.search(r'^SAVED (\d+) (\w+) (\d+) (\d+)$', text, re.M)


def test_killed_while_writing(folder, expected):
    """The survivors go on from the newest checkpoint, and write the next ones."""
    for np, rank, step in (2, 0, 3), (2, 1, 1), (4, 2, 5), (7, 0, STEPS):
        path = os.path.join(folder, 'one%d%d' % (np, rank))
        status, text = run(np, path, STEPS, '%d:%d' % (rank, step))
        found = saved(text)
        assert status == 0 and found, (np, rank, step, status, text)
        assert found.groups() == (str(STEPS), expected, str(np - 1), '0'), (np, rank, text)
        left = [f for f in os.listdir(folder) if '.part' in f]
        assert not left, left


def test_random(folder, expected, seed):
    """One or two ranks killed at any moment; until one run was not killed at its start."""
    random.seed(seed)
    ends, i, life = 0, 0, 0.8
    while i < (5 if jobs.FULL else 2) or (not ends and life < 60):
        path, np = os.path.join(folder, 'r%d' % i), random.choice([3, 4, 6])
        i += 1
        status, text, killed, early = jobs.run_and_kill(np, PROGRAM, path, 40, life=life, most=2)
        life = 1.5 * life if early else 0.8
        if not early:
            found = saved(text)
            assert status == 0, (seed, i, np, killed, status, text)
            assert not found or found[2] == expected, (seed, i, expected, text)
            ends += 1  # the rank that prints may be killed before
        status, text = run(1, path, 40)
        assert status == 0 and saved(text)[2] == expected, (seed, i, expected, status, text)
    assert ends, 'no job survived'


def newest_of(path):
    """The step that the first file of the checkpoint is of."""
    with open(path + '.0', 'rb') as f:
        f.seek(16)
        return int.from_bytes(f.read(8), sys.byteorder)


def test_all_killed(folder, expected):
    """All ranks and the launcher die: the next start continues, on another number of ranks."""
    for np, after in (4, 1), (3, 5):
        path = os.path.join(folder, 'all%d' % np)
        status, text = run(np, path, after)
        assert status == 0 and saved(text)[1] == str(after), (status, text)
        job = jobs.start(jobs.command(jobs.ONE, np, PROGRAM, path, 100000), deaths.ENV)
        while newest_of(path) <= after and job.poll() is None:  # on a busy machine it starts late
            time.sleep(0.05)
        time.sleep(random.uniform(0, 0.5))
        ranks = deaths.ranks_of(job.pid, 'saver')
        for pid in ranks:
            os.kill(pid, 9)
        status, text = jobs.end_of(job, 180)
        assert deaths.is_loss(status) and ranks, (status, text)
        assert status or 'no process is left: the job ends' in text, (status, text)
        newest = newest_of(path)
        status, text = run(2, path, max(STEPS, newest))
        assert status == 0 and int(saved(text)[1]) >= max(after, newest), (newest, status, text)


def test_cut_off(folder):
    """A job that was stopped while another one went on from its checkpoint writes nothing more."""
    path = os.path.join(folder, 'cut')
    job = jobs.start(jobs.command(jobs.ONE, 2, PROGRAM, path, 100000), deaths.ENV)
    while not os.path.exists(path + '.1') and job.poll() is None:
        time.sleep(0.05)
    ranks = deaths.ranks_of(job.pid, 'saver')
    for pid in ranks:
        os.kill(pid, signal.SIGSTOP)
    try:
        steps = newest_of(path) + 20  # generations may be one apart
        status, text = run(3, path, steps)
        assert status == 0 and saved(text)[1] == str(steps), (status, text)
        expected = saved(text)[2]
    finally:
        for pid in ranks:
            os.kill(pid, signal.SIGCONT)
    status, text = jobs.end_of(job, 60)
    assert status and 'cut off' in text, (status, text)
    status, text = run(1, path, steps)
    assert status == 0 and saved(text)[2] == expected, (status, expected, text)
    assert not [f for f in os.listdir(folder) if f.startswith('cut.part')]


def test_lock_held(folder, expected):
    """A lock that is never given up, as a stopped process holds it, delays the first checkpoint only."""
    path = os.path.join(folder, 'held')
    with open(path + '.lock', 'w') as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        status, text = run(2, path, 20)
    assert status == 0 and saved(text).groups()[:2] == ('20', expected), (status, text)


with tempfile.TemporaryDirectory() as here:
    def reference(steps):
        status, text = run(1, os.path.join(here, 'ref%d' % steps), steps)
        assert status == 0 and saved(text), (status, text)
        return saved(text)[2]
    test_killed_while_writing(here, reference(STEPS))
    test_random(here, reference(40), jobs.SEED)
    test_all_killed(here, None)
    test_cut_off(here)
    test_lock_held(here, reference(20))

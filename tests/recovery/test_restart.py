#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-run --restart: a job whose proxy or mpiexec is killed, or all of whose ranks are, starts
again from its last checkpoint and ends with the same checksum; one that failed by itself or was
interrupted does not; the exit status tells the truth. See saver.c.

time: 240
beside: yes
"""
import os
import re
import signal
import subprocess
import tempfile
import time

import deaths
import jobs

LAUNCHER = jobs.path('bin/regroup-run')
MARK = 'RGT_RESTART_MARK=%d' % os.getpid()
ENV = dict(os.environ, **dict([MARK.split('=')]))


class Job(jobs.Watched):
    """A job that stops at a step until something happens to it."""

    def __init__(self, path, np, restart, *args, where=()):
        super().__init__(jobs.start([LAUNCHER, restart, *jobs.MPIEXEC[1:], *where, '-n', str(np),
                                     jobs.path('tests/saver'), path, '10', *args], ENV), 180)

    def mpiexec(self):
        pid, = deaths.children(self.process.pid)
        return pid

    def end(self):
        ended = super().end()
        assert not deaths.wait_gone(MARK), self.text
        return ended


def saved(text):
    return re.search(r'^SAVED 10 (\w+) (\d+) (\d+)$', text, re.M)


def kill_proxy(job):
    proxy, = deaths.children(job.mpiexec())
    os.kill(proxy, signal.SIGKILL)


def kill_mpiexec(job):
    os.kill(job.mpiexec(), signal.SIGKILL)


def kill_all_ranks(job):
    for pid in deaths.ranks_of(job.process.pid, 'saver'):
        os.kill(pid, signal.SIGKILL)


def test_lost(folder, expected):
    """In the middle of a job."""
    for np, kill in (3, kill_proxy), (2, kill_mpiexec), (2, kill_all_ranks):
        job = Job(os.path.join(folder, kill.__name__), np, '--restart', 'sleep:4')
        job.wait_for('AT STEP 4\n')
        kill(job)
        status, text = job.end()
        found = saved(text)
        assert status == 0 and found, (kill.__name__, status, text)
        assert found.groups() == (expected, str(np), '1'), (kill.__name__, text)
        assert 'it is started again, 1 of 3\n' in text, text


def test_host_lost(folder, expected):
    """A host that does not answer any more is left out."""
    starter, gone = os.path.join(folder, 'starter'), os.path.join(folder, 'gone')
    with open(starter, 'w') as f:  # HOST COMMAND, after -x
        f.write('#!/bin/sh\nshift\nhost=$1\nshift\n[ "$host" = one ] || [ ! -e %s ] || exit 1\n'
                'exec sh -c "exec $*"\n' % gone)
    os.chmod(starter, 0o755)
    job = Job(os.path.join(folder, 'host'), 3, '--restart', 'sleep:4',
              where=['-launcher', 'ssh', '-launcher-exec', starter, '-hosts', 'one:2,two:1'])
    job.wait_for('AT STEP 4\n')
    open(gone, 'w').close()
    os.kill(max(deaths.children(job.mpiexec())), signal.SIGKILL)
    status, text = job.end()
    assert status == 0 and saved(text), (status, text)
    assert saved(text).groups() == (expected, '3', '1'), text
    assert 'regroup-run: two does not answer and is left out\n' in text, text


def test_no_more(folder):
    """As often as was said, and the status is that of the loss."""
    job = Job(os.path.join(folder, 'no_more'), 2, '--restart=0', 'sleep:4')
    job.wait_for('AT STEP 4\n')
    kill_proxy(job)
    status, text = job.end()
    assert status == 255 and 'has been started again 0 times' in text, (status, text)


def test_own_failure(folder):
    """A status of the program's own, also that of a loss, is the job's."""
    for np in 1, 2:  # of two mpiexec kills the second, and may say so instead
        status, text = Job(os.path.join(folder, 'own%d' % np), np, '--restart', 'status:3').end()
        assert status == 3 or (status and np > 1), (np, status, text)
        assert 'started again' not in text, (np, text)
    for code in 255, 137, 1:
        done = subprocess.run([LAUNCHER, '--restart', '-n', '1', 'sh', '-c', 'exit %d' % code],
                              env=ENV, text=True, capture_output=True)
        assert done.returncode == code and 'again' not in done.stderr, (code, done)


def test_interrupted(folder):
    """An interrupt ends it."""
    for sign in signal.SIGTERM, signal.SIGINT:
        job = Job(os.path.join(folder, 'stopped%d' % sign), 2, '--restart', 'sleep:2')
        job.wait_for('AT STEP 2\n')
        time.sleep(0.1)
        os.kill(job.process.pid, sign)
        status, text = job.end()
        assert status != 0 and 'started again' not in text, (sign, status, text)


def test_arguments():
    """--restart wants a number; standard input and error are passed on."""
    done = subprocess.run([LAUNCHER, '--restart=x', 'true'], text=True, capture_output=True)
    assert done.returncode == 2 and 'a number of times' in done.stderr, done
    done = subprocess.run([LAUNCHER, '--restart=2', '-n', '1', 'sh', '-c', 'cat; echo no >&2'],
                          env=ENV, text=True, input='word\n', capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, 'word\n', 'no\n'), done


with tempfile.TemporaryDirectory() as here:
    status_, text_ = Job(os.path.join(here, 'reference'), 1, '--restart').end()
    assert status_ == 0 and saved(text_), (status_, text_)
    test_lost(here, saved(text_)[1])
    test_host_lost(here, saved(text_)[1])
    test_no_more(here)
    test_own_failure(here)
    test_interrupted(here)
    test_arguments()

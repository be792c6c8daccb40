#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""kill -9 of any rank at any moment leaves no process and nothing in /dev/shm. (Any
moment after MPI_Init: until then MPICH has a file there itself.)

time: 120
beside: yes
"""
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = os.path.join(os.environ['RGT_BUILD'], 'tests', 'test_message')
KILLS = 10 if os.environ.get('RGT_TIER', 'all') == 'all' else 3
RANKS = 4
PATIENCE = run_tests.limit(20)


def processes(mark):
    """The processes that carry a mark in their environment, and their names."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/environ' % pid, 'rb') as f:
                if mark.encode() not in f.read().split(b'\0'):
                    continue
            with open('/proc/%s/stat' % pid) as f:
                name, rest = f.read().split('(', 1)[1].rsplit(')', 1)
                if rest.split()[0] != 'Z':
                    found[int(pid)] = name
        except OSError:
            pass
    return found


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def in_shared_memory(since):
    """Names that appeared since, without those that a process of another test has open."""
    new = set(os.listdir('/dev/shm')) - since
    for pid in filter(str.isdigit, os.listdir('/proc')) if new else []:
        try:
            with open('/proc/%s/maps' % pid) as f:
                text = f.read()
            new = {n for n in new if '/dev/shm/' + n not in text}
        except OSError:
            pass
    return new


def uses_arena(pid):
    try:
        with open('/proc/%d/maps' % pid) as f:
            return '/memfd:regroup' in f.read()
    except OSError:
        return False


def kill_one(number):
    """Returns what went wrong, or None."""
    mark = 'RGT_KILL=%d-%d' % (os.getpid(), number)
    env = dict(os.environ, RGT_ROUNDS='1000000')
    env.update([mark.split('=')])
    before = set(os.listdir('/dev/shm'))
    job = subprocess.Popen([*MPIEXEC, '-n', str(RANKS), PROGRAM], env=env,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)

    def ranks():
        return [pid for pid in processes(mark) if uses_arena(pid)]

    try:
        if not wait_until(lambda: len(ranks()) == RANKS, PATIENCE):
            return 'the job did not start'
        time.sleep(random.uniform(0, 1))
        os.kill(random.choice(ranks()), signal.SIGKILL)
        if not wait_until(lambda: not processes(mark), PATIENCE):
            return 'processes are left: %s' % processes(mark)
        job.wait(PATIENCE)
    finally:
        for pid in processes(mark):
            os.kill(pid, signal.SIGKILL)
        job.wait()
    if not wait_until(lambda: not in_shared_memory(before), 3):
        return 'left in /dev/shm: %s' % in_shared_memory(before)
    return None


seed = int(os.environ.get('RGT_SEED', '1'))
random.seed(seed)
wrong = [text for text in map(kill_one, range(KILLS)) if text]
print('\n'.join(wrong) or '%d ranks killed, nothing left' % KILLS)
sys.exit(1 if wrong else 0)

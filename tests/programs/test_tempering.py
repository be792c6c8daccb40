#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Parallel tempering of LJ13 finds the minimum, with the same bits on any number of ranks, with a static
division, and when ranks are killed on the way.

time: 200
beside: yes
"""
import os
import random
import re
import signal
import subprocess
import sys
import time

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = os.path.join(os.environ['RGT_BUILD'], 'bin/example-tempering')
FULL = os.environ.get('RGT_TIER', 'all') == 'all'
SEED = int(os.environ.get('RGT_SEED', random.randrange(2**31)))
print('seed', SEED)
random.seed(SEED)


def command(np, *args):
    return [*MPIEXEC, '-n', str(np), PROGRAM, *map(str, args)]


def result(text):
    """Minimum and checksum."""
    found = re.search(r'^minimum (\S+)\nchecksum (\S+)\n', text, re.M)
    assert found, text
    return found[1], found[2]


def run(np, *args):
    done = subprocess.run(command(np, *args), capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, (np, args, done)
    return result(done.stdout)


def ranks_of(job):
    """The processes of the program below a job, each the child of its guard."""
    words = subprocess.run(['ps', '-eo', 'pid=,ppid=,comm='], capture_output=True, text=True).stdout
    parent, name = {}, {}
    for line in words.splitlines():
        pid, ppid, comm = line.split(None, 2)
        parent[int(pid)], name[int(pid)] = int(ppid), comm
    below = []
    for pid in parent:
        at = pid
        while at in parent and at != job.pid:
            at = parent[at]
        if at == job.pid and name[pid].startswith('example-temper'):
            below.append(pid)
    return sorted(below)


def run_and_kill(np, deaths, *args):
    """Kills so many ranks, when the first sweeps have been done. Returns the result."""
    env = dict(os.environ, RG_SURVIVE='1', UCX_TLS='tcp,self')
    job = subprocess.Popen(command(np, *args), env=env, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, start_new_session=True)
    time.sleep(2.5)
    for pid in random.sample(ranks_of(job), deaths):
        os.kill(pid, signal.SIGKILL)
        time.sleep(random.uniform(0, 0.5))
    text = job.communicate()[0]
    assert job.returncode == 0, (np, deaths, args, text)
    return result(text)


expected = run(1)
assert expected[0] == '-44.326801', expected
for np in (4, 7) if FULL else (4,):
    assert run(np) == expected, np
    assert run(np, '--static', 1) == expected, np
short = run(1, '--sweeps', 60)
assert run(4, '--sweeps', 60, '--most', 1, '--sleep', 0.001) == short
assert run(2, '--sweeps', 60, '--work', 3) == short
if 'openmpi' in MPIEXEC[0]:  # guards use the protocol of MPICH's launcher
    sys.exit(0)
for np, deaths in [(4, 1), (4, 3), (7, 2)] if FULL else [(4, 2)]:
    assert run_and_kill(np, deaths, '--sweeps', 60, '--sleep', 0.04) == short, (np, deaths)

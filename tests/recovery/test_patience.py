#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""When somebody has died, and all others wait inside MPI for ever, the job ends with a line; as
long as one of them computes, is stopped or waits for something else it goes on. A process that is
stopped counts as dead only if regroup-run --stopped says so. See waiting.c.

time: 30
"""
import os
import signal
import subprocess
import sys
import time

import deaths

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
BUILD = os.environ['RGT_BUILD']
PROGRAM = os.path.join(BUILD, 'tests', 'waiting')
PATIENCE, LONG = '0.5', '2'

if 'openmpi' in MPIEXEC[0]:
    print('guardians speak to the launcher of MPICH')
    sys.exit(77)


def start(where, np, *args, begin=None, **env):
    return subprocess.Popen([*(begin or where.begin(np)), '-n', str(np), PROGRAM, *args],
                            env=dict(deaths.ENV, **where.env, **env), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def stopped(job):
    """The job's ranks that are stopped."""
    found = []
    for pid in deaths.ranks_of(job.pid, 'waiting'):
        try:
            with open('/proc/%d/stat' % pid) as f:
                if f.read().rsplit(')', 1)[1].split()[0] == 'T':
                    found.append(pid)
        except OSError:
            pass
    return found


def end(job):
    text = job.communicate(timeout=80)[0]
    return job.returncode, text


def start_stopped_for_good(where):
    run = [os.path.join(BUILD, 'bin', 'regroup-run'), '--stopped=0.5']
    return start(where, 4, 'stopped', begin=run + MPIEXEC[1:], RG_MPIEXEC=MPIEXEC[0])


def go_on(job):
    """When its rank has been stopped for long."""
    while not stopped(job) and job.poll() is None:
        time.sleep(0.05)
    time.sleep(float(LONG))
    for pid in stopped(job):
        os.kill(pid, signal.SIGCONT)


def test_all(where):
    """At once: they wait for most of their time."""
    jobs = {case: start(where, 4, case, LONG, RG_PATIENCE=PATIENCE)
            for case in ('mpi', 'compute', 'sleep', 'stop')}
    jobs['stopped'] = start_stopped_for_good(where)
    go_on(jobs['stop'])
    ends = {case: end(job) for case, job in jobs.items()}
    status, text = ends.pop('mpi')
    assert status and text.count('waiting for 0.5 s: the job ends') == 1, (where.name, status, text)
    for case, (status, text) in ends.items():
        assert (status, text) == (0, 'SURVIVED 3\n'), (where.name, case, status, text)


def test_wrong_options():
    for word in '--stopped', '--stopped=', '--stopped=x', '--stopped=-1', '--restart=x':
        done = subprocess.run([os.path.join(BUILD, 'bin', 'regroup-run'), word, '-n', '1', 'true'],
                              capture_output=True, text=True)
        assert done.returncode == 2 and word in done.stderr, (word, done)


test_wrong_options()
for where in deaths.Node(MPIEXEC), deaths.Cliques(MPIEXEC):
    test_all(where)

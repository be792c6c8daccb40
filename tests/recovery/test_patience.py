#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""When a rank has died, and all others wait inside MPI for ever, the job ends with a line; as
long as one of them computes, is stopped or waits for something else it goes on. A process that is
stopped counts as dead only if regroup-run --stopped says so. See waiting.c.

time: 30
"""
import os
import signal
import time

import deaths
import jobs

PATIENCE, LONG = '0.5', '2'


def start(where, np, *args, begin=None, **env):
    words = [*(begin or where.begin(np)), '-n', str(np), jobs.path('tests/waiting'), *args]
    return jobs.start(words, dict(deaths.ENV, **where.env, **env))


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


def start_stopped_for_good(where):
    run = [jobs.path('bin/regroup-run'), '--stopped=0.5']
    return start(where, 4, 'stopped', begin=run + jobs.MPIEXEC[1:], RG_MPIEXEC=jobs.MPIEXEC[0])


def go_on(job):
    """When its rank has been stopped for long."""
    while not stopped(job) and job.poll() is None:
        time.sleep(0.05)
    time.sleep(float(LONG))
    for pid in stopped(job):
        os.kill(pid, signal.SIGCONT)


def test_all(where):
    """At once: they wait for most of their time."""
    started = {case: start(where, 4, case, LONG, RG_PATIENCE=PATIENCE)
               for case in ('mpi', 'compute', 'sleep', 'stop')}
    started['stopped'] = start_stopped_for_good(where)
    go_on(started['stop'])
    ends = {case: jobs.end_of(job, 80) for case, job in started.items()}
    status, text = ends.pop('mpi')
    assert status and text.count('waiting for 0.5 s: the job ends') == 1, (where.name, status, text)
    for case, (status, text) in ends.items():
        assert (status, text) == (0, 'SURVIVED 3\n'), (where.name, case, status, text)


def test_wrong_options():
    for word in '--stopped', '--stopped=', '--stopped=x', '--stopped=-1', '--restart=x':
        status, text = jobs.output([jobs.path('bin/regroup-run'), word, '-n', '1', 'true'], os.environ)
        assert status == 2 and word in text, (word, status, text)


test_wrong_options()
for where in jobs.ONE, jobs.TWO:
    test_all(where)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""When a rank has died, and all others wait inside MPI for ever, the job ends with a line; as
long as one of them computes, is stopped or waits for something else it goes on. A process that is
stopped counts as dead only if regroup-run --stopped says so. The same with libregroup-mpi.so or
libregroup-polite.so preloaded, which pause in MPI's waits or have their own. See waiting.c.

time: 60
"""
import os
import signal
import tempfile
import time

import deaths
import jobs
import preload

PATIENCE, LONG = '0.5', '2'


def start(where, np, *args, begin=None, program=(jobs.path('tests/waiting'),), **env):
    words = [*(begin or where.begin(np)), '-n', str(np), *program, *args]
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
    for case, (status, text) in ends.items():
        check_end(where, case, status, text)


def check_end(where, case, status, text):
    if case in ('mpi', 'barrier'):
        assert deaths.is_loss(status) and text.count('waiting for 0.5 s: the job ends') == 1, (
            where.name, status, text)
    else:
        # regroup-run listens for the third line where the launcher's status tells little.
        lines, told = deaths.SURVIVED.subn('', jobs.UNKNOWN_MPI.sub('', text))
        assert told == 1, text
        lines = lines.replace('regroup: the job has ended well without 1 of its 4 processes\n', '')
        assert (status, lines) == (0, 'SURVIVED 3\n'), (where.name, case, status, text)


def make_programs(folder):
    """waiting.c, linked with the archive and with the shared library: the program's copy of the
    polite module comes before the preloaded one, or behind it."""
    libraries = preload.BUILD + '/lib'
    preload.mpicc('-D_GNU_SOURCE', '-Iinclude', 'tests/recovery/waiting.c', '-o', folder + '/waiting',
                  '-L' + libraries, '-lregroup', '-Wl,-rpath,' + libraries)
    return jobs.path('tests/waiting'), folder + '/waiting'


def test_preloaded(where, programs):
    for library in preload.LIBRARY, preload.POLITE:
        started = [(case, start(where, 4, case, LONG, RG_PATIENCE=PATIENCE,
                                program=preload.under(library, program)))
                   for case in ('mpi', 'barrier', 'compute') for program in programs]
        for case, job in started:
            check_end(where, case, *jobs.end_of(job, 80))


def test_wrong_options():
    for word in '--stopped', '--stopped=', '--stopped=x', '--stopped=-1', '--restart=x':
        status, text = jobs.output([jobs.path('bin/regroup-run'), word, '-n', '1', 'true'], os.environ)
        assert status == 2 and word in text, (word, status, text)


test_wrong_options()
for where in jobs.SURVIVED:
    test_all(where)
if jobs.FULL and not preload.OPENMPI and 'san' not in preload.BUILD:
    with tempfile.TemporaryDirectory() as scratch:
        for where in jobs.SURVIVED:
            test_preloaded(where, make_programs(scratch))

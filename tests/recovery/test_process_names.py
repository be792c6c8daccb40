#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Under which names ps shows the processes of a job that survives: guards and node daemons, by the
command line and by the thread's name; and that their environment can still be read there.

beside: yes
"""
import os
import shutil
import tempfile
import time

import deaths
import jobs

MARK = 'RGT_NAMES=%d' % os.getpid()


def read(pid, name):
    with open('/proc/%d/%s' % (pid, name), 'rb') as f:
        return f.read()


def guards():
    """For each guard of the job its rank: thread's name and command line."""
    found = {}
    for pid in deaths.left_behind(MARK):
        try:
            comm, words = read(pid, 'comm').decode().strip(), read(pid, 'cmdline').rstrip(b'\0')
        except OSError:
            continue
        if comm.startswith('regroup-'):
            found[deaths.rank_of(pid)] = comm, words.decode()
    return found


def expected(np, daemons):
    names = ['regroup-noded' if rank in daemons else 'regroup-guard' for rank in range(np)]
    return {rank: (name, '%s %d' % (name, rank)) for rank, name in enumerate(names)}


def titles(np):
    return {''} | {'%s %d' % (name, rank) for name in ('regroup-guard', 'regroup-noded')
                   for rank in range(np)}


def check(where, program, np, daemons, *before):
    """before: words that mpiexec starts the program by."""
    env = dict(deaths.ENV, **where.env, **dict([MARK.split('=')]))
    job = jobs.start([*where.begin(np), '-n', str(np), *before, program, 'sleep', '3'], env)
    end = time.monotonic() + 60
    found, seen = {}, set()
    while found != expected(np, daemons) and job.poll() is None and time.monotonic() < end:
        found = guards()
        seen |= {words for _, words in found.values()}
        time.sleep(0.02)
    status, text = jobs.end_of(job)
    assert found == expected(np, daemons), (where.name, np, found, status, text)
    # Nor was there another title before rg_init; '' is one that is being written.
    assert seen <= titles(np), (where.name, seen)
    assert status == 0 and 'SURVIVED %d\n' % (np - 1) in text, (where.name, status, text)
    assert not deaths.wait_gone(MARK), (where.name, text)


with tempfile.TemporaryDirectory(prefix='names-') as folder:
    # A command line with less space than the title needs, and one with more.
    short = os.path.join(folder, 'w')
    shutil.copy(jobs.path('tests/waiting'), short)
    os.chdir(folder)
    check(jobs.ONE, './w', 3, ())
    # The longest variable, which gives way to the title, behind the rank's.
    check(jobs.ONE, './w', 3, (), 'env', 'LONG=' + 4000 * 'x')
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    check(jobs.ONE, os.path.realpath(jobs.path('tests/waiting')), 3, ())
    check(jobs.TWO, short, 4, (0, 1))
    check(deaths.Cliques(jobs.MPIEXEC, 4), short, 12, (0, 1, 2, 3))

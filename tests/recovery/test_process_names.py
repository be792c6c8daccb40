#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The names of guards and node daemons, by which ps and pgrep find them and tell them from ranks;
and that their environment can be read.

beside: yes
"""
import os
import time

import deaths
import faults
import jobs

MARK = 'RGT_NAMES=%d' % os.getpid()


def guards():
    """For each guard of the job its rank: its name."""
    names = {pid: faults.name_of(pid) for pid in deaths.left_behind(MARK)}
    return {deaths.rank_of(pid): name for pid, name in names.items() if name in deaths.GUARDS}


def expected(np, daemons):
    return {rank: 'regroup-noded' if rank in daemons else 'regroup-guard' for rank in range(np)}


def check(where, np, daemons):
    env = dict(deaths.ENV, **where.env, **dict([MARK.split('=')]))
    job = jobs.start(jobs.command(where, np, 'tests/waiting', 'sleep', '3'), env)
    end, found = time.monotonic() + jobs.run_tests.limit(60), {}
    while found != expected(np, daemons) and job.poll() is None and time.monotonic() < end:
        found = guards()
        time.sleep(0.02)
    ranks = deaths.ranks_of(job.pid, 'waiting')
    status, text = jobs.end_of(job)
    assert found == expected(np, daemons), (where.name, np, found, status, text)
    assert ranks, 'no rank is found by its name'
    assert status == 0 and 'SURVIVED %d\n' % (np - 1) in text, (where.name, status, text)
    assert not deaths.wait_gone(MARK), (where.name, text)


check(jobs.ONE, 3, ())
check(deaths.Cliques(jobs.MPIEXEC, 4), 12, (0, 1, 2, 3))

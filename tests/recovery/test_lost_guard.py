#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-run tells of a guard that was killed, with which the job ends, and says nothing of a rank
that was killed, which the job survives.

time: 240
beside: yes
"""
import os
import signal

import deaths
import jobs

NP = 3


def run_and_kill(find, phases):
    """Kills a process of the job when all have begun: that which find gets from a rank's."""
    job = jobs.start([jobs.path('bin/regroup-run'), '-n', str(NP), jobs.path('bin/example-recover'),
                      '--phases', str(phases)], dict(os.environ, RG_MPIEXEC=jobs.MPIEXEC[0]))
    watched = jobs.Watched(job, 170)
    try:
        watched.wait_for('%d ranks begin\n' % NP)
        os.kill(find(deaths.ranks_of(job.pid, 'example-recover')[1]), signal.SIGKILL)
        return watched.end()
    finally:
        if job.poll() is None:
            job.kill()


def guard_of(rank):
    with open('/proc/%d/stat' % rank) as f:
        return int(f.read().rsplit(')', 1)[1].split()[1])


status, text = run_and_kill(guard_of, 1000000)
assert status == 9 and 'regroup-run: the job has ended with status 9' in text, (status, text)
assert 'a guard was killed' in text, text
status, text = run_and_kill(lambda rank: rank, 3000)
assert status == 0 and '2 of 3 ranks' in text and 'guard' not in text, (status, text)

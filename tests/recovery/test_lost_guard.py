#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-run tells of a guard that was killed, with which the job ends, and says nothing of a rank
that was killed, which the job survives.

time: 120
"""
import os
import signal
import subprocess
import time

import deaths
import jobs

NP = 3


def run_and_kill(find, phases):
    """Kills a process of the job, after its start: that which find gets from a rank's."""
    job = subprocess.Popen([jobs.path('bin/regroup-run'), '-n', str(NP),
                            jobs.path('bin/example-recover'), '--phases', str(phases)],
                           env=dict(os.environ, RG_MPIEXEC=jobs.MPIEXEC[0]), **deaths.READ)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and len(deaths.ranks_of(job.pid, 'example-recover')) < NP:
            time.sleep(0.05)
        time.sleep(2)  # rg_init returns meanwhile
        os.kill(find(deaths.ranks_of(job.pid, 'example-recover')[1]), signal.SIGKILL)
        text = job.communicate(timeout=100)[0]
    finally:
        if job.poll() is None:
            job.kill()
    return job.returncode, text


def guard_of(rank):
    with open('/proc/%d/stat' % rank) as f:
        return int(f.read().rsplit(')', 1)[1].split()[1])


status, text = run_and_kill(guard_of, 1000000)
assert status == 9 and 'regroup-run: the job has ended with status 9' in text, (status, text)
assert 'a guard was killed' in text, text
status, text = run_and_kill(lambda rank: rank, 12000)
assert status == 0 and '2 of 3 ranks' in text and 'guard' not in text, (status, text)

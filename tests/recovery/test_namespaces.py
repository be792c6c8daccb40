#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A user namespace for each rank, as in a container for each: the library starts, and a job survives as
elsewhere. A PID namespace for each rank: it starts; where the job is to survive rg_init says on all
processes that it cannot if a node has several ranks, since they have the same process ids.

beside: yes
"""
import os
import shutil
import subprocess
import sys

import deaths
import jobs

USER = ['unshare', '--user', '--map-root-user']
PID = USER + ['--pid', '--fork']
# UCX opens /proc/PID/fd, too, if it is let.
PLAIN = dict(os.environ, UCX_TLS='tcp,self')
PROGRAM = [jobs.path('tests/test_runtime')]
WAITING = [jobs.path('tests/waiting'), 'sleep', '0']

if not shutil.which('unshare') or subprocess.run([*PID, 'true'], stderr=subprocess.DEVNULL).returncode:
    print('namespaces are not permitted here')
    sys.exit(77)


def run(where, np, env, words):
    return jobs.output([*where.begin(np), '-n', str(np), *words], dict(env, **where.env), 100)


for space in USER, PID, PID + ['--mount-proc']:
    status, text = run(jobs.ONE, 3, PLAIN, space + PROGRAM)
    assert status == 0 and 'failed=0' in text, (space, status, text)

for where in jobs.ONE, jobs.TWO:
    status, text = run(where, 4, deaths.ENV, USER + WAITING)
    assert status == 0 and 'SURVIVED 3\n' in text, (status, text)
    status, text = run(where, 4, deaths.ENV, PID + WAITING)
    assert status != 0 and 'SURVIVED' not in text, (status, text)
    assert 'the processes of a node are in different PID namespaces' in text, (status, text)

# Where each node has one rank, different nodes may have the same process ids.
status, text = run(jobs.TWO, 2, deaths.ENV, PID + WAITING)
assert status == 0 and 'SURVIVED 1\n' in text, (status, text)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The daemon of a node is killed: before the others shrink, while they agree and shrink (also the root
of an agreement, and the next one), amid accesses that it serves, while the launcher's process on the
node does not move. The launcher then ends all processes of that node. With -disable-auto-cleanup those of the other nodes go on to the
right results; without it the job ends, and regroup-run --restart starts it again. Each node has a
process of the launcher's and is pretended to be one by MPI. See daemons.c, accesses.c, saver.c.

tier: quick
time: 60
beside: yes
"""
import os
import random
import re
import tempfile

import deaths
import jobs


class Place:
    """Where jobs are started: hosts that are this one."""

    def __init__(self, folder):
        self.folder = folder

    def options(self, nodes):
        return jobs.hosts(self.folder, nodes)

    def run(self, nodes, np, program, *args):
        mark = 'RGT_DAEMONS=%d-%d' % (os.getpid(), random.randrange(2**60))
        job = jobs.start([*jobs.MPIEXEC, *self.options(nodes), '-disable-auto-cleanup', '-n', str(np),
                          jobs.path('tests/' + program), *args],
                         dict(deaths.ENV, MPIR_CVAR_NUM_CLIQUES=str(nodes), **dict([mark.split('=')])))
        status, text = jobs.end_of(job)
        assert not deaths.wait_gone(mark), (nodes, np, program, args, text)
        return status, text


def is_launchers(status, text):
    """mpiexec has ended the job: its process on a node ends by a fault of its own when the node's
    processes, which it has told of another death, are killed before they have their answer."""
    return status == 255 and re.search(r'^\[mpiexec@.* assert \(!closed\) failed$', text, re.M)


def survive(place, nodes, np, lost, program, *args):
    """mpiexec's status is that of the dead; the survivors are those of the other nodes."""
    for seed in range(jobs.SEED, jobs.SEED + 5):
        status, text = place.run(nodes, np, program, *args, str(seed))
        if not is_launchers(status, text):
            break
    else:
        return
    left = re.search(r'^SURVIVED (\d+)$', text, re.M)
    wrong = re.search(r'^rank \d+, round ', text, re.M)
    assert deaths.is_loss(status) and left and not wrong, (nodes, np, program, args, seed, status, text)
    assert int(left[1]) == np // nodes * (nodes - lost), (nodes, np, args, seed, text)


def restart(place, folder, nodes, np):
    """By regroup-run, without that option: whether it was started again. mpiexec's status may
    be 9: regroup-run cannot tell that from a status of the program."""
    job = jobs.start(
        [jobs.path('bin/regroup-run'), '--restart', *jobs.MPIEXEC[1:], *place.options(nodes), '-n',
         str(np), jobs.path('tests/saver'), os.path.join(folder, 'state'), '10', 'daemon:4'],
        dict(os.environ, MPIR_CVAR_NUM_CLIQUES=str(nodes)))
    status, text = jobs.end_of(job)
    if status == 9 and 'started again' not in text:
        return False
    assert status == 0 and re.search(r'^SAVED 10 \w+ %d 1$' % np, text, re.M), (nodes, np, status, text)
    return True


def test_restart(place):
    for _ in range(10):
        with tempfile.TemporaryDirectory(prefix='daemons-') as folder:
            if restart(place, folder, 2, 4):
                return
    assert False, 'it has never been started again'


with tempfile.TemporaryDirectory(prefix='daemons-') as here:
    where = Place(here)
    survive(where, 2, 4, 1, 'daemons', '0:vote')
    survive(where, 2, 4, 1, 'daemons', '0:late')
    survive(where, 3, 3, 2, 'daemons', '0:agree,1:shrink')
    survive(where, 4, 8, 3, 'daemons', '1:barrier,0:vote,2:agree')
    survive(where, 2, 4, 1, 'accesses', 'put', 'daemon')
    survive(where, 2, 4, 1, 'accesses', 'all', 'daemon')
    test_restart(where)

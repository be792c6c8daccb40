#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Ranks are killed while communicators and inter-communicators are made, on one node and on two: MPI's
blocking calls are left, the survivors all have an error, and make new ones that work. Calls are left also when
they have received a part of a long message of the dead, and MPI_Ssend. See creation.c, spawning.c and
interrupted.c.

tier: quick
beside: yes
"""
import random
import re
import sys

import jobs


def create(where, np, deaths, most):
    seed = random.randrange(2**31)
    status, text = jobs.run(np, 'tests/creation', deaths, seed, most, where=where)
    well = 'CREATED %d\n' % (np - deaths) in text
    assert status == 0 and well, (where.name, np, deaths, seed, most, status, text)


def spawn(where, np, aside, deaths):
    """The reserve suffices, whichever of its processes die; one holds its directory."""
    seed = random.randrange(2**31)
    status, text = jobs.run(np, 'tests/spawning', aside, aside - deaths - 1, 40, seed, deaths, 200000,
                            where=where)
    well = re.search(r'^SPAWNED \d+$', text, re.M)
    assert status == 0 and well, (where.name, np, aside, deaths, seed, status, text)


def interrupt(where, call):
    after = random.randrange(60000)
    status, text = jobs.run(4, 'tests/interrupted', call, after, where=where)
    assert (status, text) == (0, 'INTERRUPTED 3\n'), (where.name, call, after, status, text)


if not jobs.OVER_UCX:
    print('MPI is left while it makes communicators with MPICH over UCX alone')
    sys.exit(77)
random.seed(jobs.SEED)
for where in [jobs.ONE, jobs.TWO]:
    for np, deaths, most in [(2, 1, 2000), (3, 2, 20000), (4, 2, 5000), (7, 4, 20000)]:
        create(where, np, deaths, most)
    spawn(where, 8, 4, 2)
    spawn(where, 5, 3, 1)
    for call in 'ring', 'allreduce', 'ssend':
        interrupt(where, call)

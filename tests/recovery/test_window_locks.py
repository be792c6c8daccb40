#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Ranks are killed that have locks of windows which libregroup-mpi.so serves, wait for them, release
them, or accumulate: the survivors get the locks, on one node and on two, where each node has a window.
See window_locks.c.

beside: yes
time: 180
"""
import random
import re

import deaths
import jobs
import preload

preload.skip_sanitized()
LIMIT = 60


def run(where, np, how, seed=0):
    """The output."""
    words = [*where.begin(np), '-genv', 'LD_PRELOAD', preload.LIBRARY, '-n', str(np),
             jobs.path('tests/window_locks'), how, str(seed)]
    status, text = jobs.output(words, dict(deaths.ENV, **where.env), LIMIT)
    right = len(re.findall('^wrong 0$', text, re.M))
    assert status == 0 and right > 0 and 'wrong' not in text.replace('wrong 0', ''), (
        where.name, np, how, seed, status, text)
    return text, right


def check_fixed(where, np, members):
    """members: on each node."""
    dead = sum(n > 1 for n in members)
    for how in ('exclusive', 'shared', 'waiting'):
        text, right = run(where, np, how)
        assert right == np - dead, (where.name, np, how, text)
        # Data of an exclusive owner only may be half written.
        said = len(re.findall(r'MPI_Win_lock: rank \d+ has died with the lock: .* half written', text))
        assert said == (dead if how == 'exclusive' else 0), (where.name, np, how, text)


random.seed(jobs.SEED)
half = 0  # deaths that have left an accumulate half done
for np in (2, 3, 4, 7) if jobs.FULL else (3, 4):
    check_fixed(jobs.ONE, np, [np])
    for _ in range(2):
        half += 'has died in such a call' in run(jobs.ONE, np, 'adding')[0]
    for _ in range(3):
        run(jobs.ONE, np, 'drawn', random.randrange(1 << 31))
for np, members in ((3, (2, 1)), (4, (2, 2)), (7, (4, 3)))[0 if jobs.FULL else 2:]:
    check_fixed(jobs.TWO, np, members)
    run(jobs.TWO, np, 'drawn', random.randrange(1 << 31))
assert half, 'no rank was killed while it added'

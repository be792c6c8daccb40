#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A launcher that does not speak this MPI's protocol starts processes that are each a job of its own:
the first of them says so, linked or preloaded.

tier: quick
beside: yes
"""
import os

from preload import LIBRARY, OPENMPI, run, skip, skip_sanitized, under

skip_sanitized()
if OPENMPI:
    skip('the variables are those of its own launcher')
LINE = "Open MPI's mpirun has started 4 tasks, but MPI knows of one process"
WAYS = {'linked': lambda **v: ['env', *map('='.join, v.items()), os.environ['RGT_BUILD'] + '/bin/regroup-info', '--node'],
        'preloaded': lambda **v: under(LIBRARY, 'tests/plain_forks', **v)}


def told(way, np, rank, size):
    return LINE in run(np, WAYS[way](OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE=size))[1]


for way in WAYS:
    assert told(way, 0, '0', '4'), way
    assert not told(way, 0, '1', '4'), way  # the first one is enough
    assert not told(way, 0, '0', '1'), way
    assert not told(way, 1, '0', '4'), way  # mpiexec has started it, and speaks the protocol

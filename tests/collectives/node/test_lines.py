#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The cache lines that collectives move inside a node, counted in a build with LINES=count, on
pretended machines with a processor for each rank: 1 and 2 sockets with 4 caches each, neighbours
beside one another (compact) and dealt out in turn (scatter). The counts are exact; a rank's most in
one call is held against a bound for each operation.

tier: all
time: 240

With --table prints the counts for 8, 32, 64 and 128 ranks instead (minutes).
"""
import math
import os
import re
import shutil
import subprocess
import sys

TOP = 'build/release-lines'
PROGRAM = TOP + '/tests/count_lines'
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()
LINE = 64
FLAT = 8  # so many ranks are one level
failures = []


def count(ranks, sockets, bind):
    """{(operation, bytes): (lines read, lines written)}, the most of a rank in a call."""
    env = {k: v for k, v in os.environ.items() if not re.match('RG_|HWLOC_(XML|SYN)', k)}
    cores = max(1, ranks // (4 * sockets))
    env.update(RG_TOPOLOGY='pack:%d l3:4 core:%d pu:1' % (sockets, cores), RG_BIND=bind,
               RG_OVERSUBSCRIBED='no', RG_WAIT='yield', RG_TIMEOUT='100')
    run = subprocess.run(MPIEXEC + ['-n', str(ranks), PROGRAM], env=env, text=True,
                         capture_output=True)
    if run.returncode:
        sys.exit('%d ranks, %d sockets, %s: status %d\n%s%s' %
                 (ranks, sockets, bind, run.returncode, run.stdout, run.stderr))
    rows = [line.split() for line in run.stdout.splitlines()]
    return {(op, int(size)): (int(read), int(written)) for op, size, read, written in rows}


def bound(op, size, ranks, sockets):
    """The most lines that a rank may read and write in one call. `levels`: the members that a
    process can meet at all levels, on its cache, in its socket, on the node. A wait for room is a
    line for each neighbour, as its data are."""
    data = -(-size // LINE) if size > 56 else 0  # up to 56 bytes go with the flag
    levels = ranks if ranks <= FLAT else max(1, ranks // (4 * sockets)) + 4 + sockets
    few = levels + math.ceil(math.log2(ranks))
    if op == 'barrier':
        return few, 0
    if op.startswith('bcast'):
        return few + data, 0
    if op in ('scan', 'exscan') and ranks > FLAT:  # a line, and its room, in each doubling
        return math.ceil(math.log2(ranks)) * (2 + data), 0
    if op == 'scatter':
        return ranks + 1 + data, 0
    if op in ('gather', 'allgather'):  # the flag, the room and the data of each other one
        return (ranks - 1) * (2 + data), 0
    if op in ('alltoall', 'reduce_scatter'):  # these, two meetings and the lengths
        return 2 * few + (ranks - 1) * (4 + max(data, 1)), 0
    if op in ('scan', 'exscan') and (ranks - 1) * size <= 4096:  # at once
        return (ranks - 1) * (2 + data), 0
    if op in ('scan', 'exscan'):
        share = data // ranks + 1
        return 6 * (ranks - 1) + (ranks - 1) * share + data, (ranks - 1) * share
    if not data:
        return 2 * few, 0
    if ranks > FLAT:
        return 2 * few + levels * data, 0
    share = data // ranks + 1
    return 6 * (ranks - 1) + (ranks - 1) * share + data, share


def check(ranks, sockets, bind):
    counts = count(ranks, sockets, bind)
    for (op, size), moved in sorted(counts.items()):
        most = bound(op, size, ranks, sockets)
        if moved[0] > most[0] or moved[1] > most[1]:
            failures.append('%d ranks, %d sockets, %s, %s of %d bytes: reads and writes %s lines, '
                            'at most %s' % (ranks, sockets, bind, op, size, moved, most))
    if len(counts) != 1 + 12 * 4:
        failures.append('%d ranks: %d counts' % (ranks, len(counts)))


if not shutil.which('scons'):
    print('scons is missing')
    sys.exit(77)
built = subprocess.run(['scons', '-Q', 'LINES=count', PROGRAM], capture_output=True, text=True)
if built.returncode:
    sys.exit(built.stdout + built.stderr)

if '--table' in sys.argv:
    for ranks in 8, 32, 64, 128:
        for sockets in 1, 2:
            for (op, size), moved in count(ranks, sockets, 'compact').items():
                print('| %d | %d | %s | %d | %d | %d |' % (ranks, sockets, op, size, *moved),
                      flush=True)
    sys.exit(0)

for sockets in 1, 2:
    check(8, sockets, 'compact')
    check(32, sockets, 'compact')
check(32, 2, 'scatter')
check(64, 2, 'compact')
print('\n'.join(failures) or 'all counts within their bounds')
sys.exit(bool(failures))

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What the engine between nodes sends: contiguous data once, a strided patch as one message.

Counted by the network of two pretended nodes, as the difference between many operations and
few, so that what starting and stopping costs does not count.

time: 120
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'cluster'))
import cluster  # noqa: E402

MIB = 1 << 20
PROGRAM = os.path.join(ROOT, os.environ.get('RGT_BUILD', 'build'), 'tests', 'engine_traffic')
FEW, MANY = 5, 45


def bytes_sent(nodes, *words):
    """By each of the two nodes while the program runs."""
    before = nodes.counters()
    status, text = nodes.run(nodes.mpiexec(2, 1) + [PROGRAM, *map(str, words)], 60)
    assert status == 0, (words, status, text)
    return [now['sent'] - then['sent'] for now, then in zip(nodes.counters(), before)]


def each(nodes, what, rows, row):
    """Of one operation: what the origin and the target send, over the data's size."""
    few = bytes_sent(nodes, what, rows, row, FEW)
    many = bytes_sent(nodes, what, rows, row, MANY)
    found = [(m - f) / (MANY - FEW) / (rows * row) for m, f in zip(many, few)]
    print('%-8s of %4d rows of %7d bytes: origin sends %6.3f, target %6.3f of the data' %
          (what, rows, row, *found))
    return found


if 'openmpi' in os.environ.get('RGT_MPIEXEC', ''):
    print('only for MPICH')
    sys.exit(77)
try:
    with cluster.Nodes(2, network=True) as pair:
        out, back = each(pair, 'put', 1, MIB)
        assert .99 < out < 1.05 and back < .05, (out, back)
        out, back = each(pair, 'get', 1, MIB)
        assert .99 < back < 1.05 and out < .05, (out, back)
        out, back = each(pair, 'acc', 1, MIB)
        assert .99 < out < 1.05 and back < .05, (out, back)
        for rows, row in [(64, 64), (512, 256)]:
            one, _ = each(pair, 'put', rows, row)
            all_rows, _ = each(pair, 'put-rows', rows, row)
            assert one < 1.25 and all_rows > 1.25 * one, (one, all_rows)
            _, one = each(pair, 'get', rows, row)
            _, all_rows = each(pair, 'get-rows', rows, row)
            assert one < 1.25 and all_rows > 1.25 * one, (one, all_rows)
            one, _ = each(pair, 'acc', rows, row)
            assert one < 1.25, one
except cluster.Unavailable as why:
    print(why)
    sys.exit(77)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Counting what crosses the network between pretended nodes. By hand, with more operations:

    tests/cluster/test_netns.py 100

time: 240
"""
import os
import shutil
import subprocess
import sys
import tempfile

import cluster

MIB = 1 << 20
ROOT = os.path.dirname(os.path.dirname(cluster.HERE))
BUILD = os.path.join(ROOT, os.environ.get('RGT_BUILD', 'build'))
TIMES = int(sys.argv[1]) if len(sys.argv) > 1 else 10


def compile_traffic(folder):
    mpicc = shutil.which('mpicc.mpich') or 'mpicc'
    sanitize = ['-fsanitize=address,undefined'] * ('asan' in os.path.basename(BUILD))
    subprocess.run([mpicc, '-std=c11', '-D_GNU_SOURCE', '-O1', '-Wall', '-Wextra', '-Werror',
                    *sanitize, '-Iinclude', cluster.HERE + '/traffic.c',
                    '-Wl,-u,rg_polite_active', BUILD + '/lib/libregroup.a',
                    '-lhwloc', '-lsodium', '-ldl', '-lm', '-lpthread', '-o',
                    folder + '/traffic'], check=True, cwd=ROOT)
    return folder + '/traffic'


def measure(nodes, traffic, placement, *words):
    """What the program says of each rank, a dictionary each; two nodes with four ranks."""
    status, text = nodes.run(nodes.mpiexec(8, 4, placement) + [traffic, *map(str, words)], 60)
    assert status == 0, (status, text)
    lines = [line.split() for line in text.splitlines()]
    assert len(lines) == 8, text
    return [{'host': host, 'neighbours': int(n), 'sent': float(sent), 'received': float(received)}
            for host, n, sent, received in lines]


def check_places(ranks, placement):
    hosts = ['node%d' % (i // 4 if placement == 'block' else i % 2) for i in range(8)]
    assert [r['host'] for r in ranks] == hosts, ranks
    assert all(r['neighbours'] == 4 for r in ranks), ranks


def check_send(nodes, traffic):
    """A message between nodes crosses once; one inside a node does not."""
    across = measure(nodes, traffic, 'block', 'send', MIB, TIMES, 3, 4)
    check_places(across, 'block')
    print('1 MiB from node0 to node1: %.0f bytes sent, %.0f received; %.4f MiB' %
          (across[0]['sent'], across[0]['received'], across[0]['sent'] / MIB))
    assert MIB <= across[0]['sent'] < 1.05 * MIB and across[0]['received'] < .05 * MIB, across
    assert across[7]['sent'] < .05 * MIB and MIB <= across[7]['received'] < 1.05 * MIB, across
    for sender, receiver in [(0, 2), (1, 7)]:  # cyclic: even ranks, odd ranks
        inside = measure(nodes, traffic, 'cyclic', 'send', MIB, TIMES, sender, receiver)
        check_places(inside, 'cyclic')
        most = max(max(r['sent'], r['received']) for r in inside)
        print('1 MiB inside a node: %.0f bytes' % most)
        assert most < .01 * MIB, inside


def show_broadcast(nodes, traffic):
    for placement in ['block', 'cyclic']:
        ranks = measure(nodes, traffic, placement, 'bcast', MIB, TIMES)
        check_places(ranks, placement)
        sent = [ranks[0]['sent'] / MIB, ranks[7]['sent'] / MIB]
        print('MPI_Bcast of 1 MiB, 2 x 4 ranks, %-6s: %.2f MiB from node0, %.2f from node1' %
              (placement, *sent))
        assert .99 < sent[0] < 8.5 and sent[1] < 8.5, ranks


def check_collective(nodes, traffic, name, mpi, most):
    """The library's own: data cross once, or there and back, wherever the ranks are."""
    for placement in ['block', 'cyclic']:
        ours = measure(nodes, traffic, placement, name, MIB, TIMES)
        theirs = measure(nodes, traffic, placement, mpi, MIB, TIMES)
        sent = [ours[0]['sent'] / MIB, ours[7]['sent'] / MIB]
        print('%s of 1 MiB, 2 x 4 ranks, %-6s: %.3f MiB from node0, %.3f from node1; '
              'MPI %.3f and %.3f' % (name, placement, *sent, theirs[0]['sent'] / MIB,
                                     theirs[7]['sent'] / MIB))
        assert sum(sent) < most, ours


def check_uneven(nodes, traffic):
    """Blocks of different sizes cross once, where their owner is not on the root's node."""
    for placement in ['block', 'cyclic']:
        elsewhere = sum(i + 1 for i in range(8) if (i // 4 if placement == 'block' else i % 2))
        for name in ['rg_gatherv', 'rg_scatterv']:
            ranks = measure(nodes, traffic, placement, name, MIB, TIMES)
            sent = [ranks[0]['sent'] / MIB, ranks[7]['sent'] / MIB]
            print('%s of 1 MiB, 2 x 4 ranks, %-6s: %.3f MiB from node0, %.3f from node1; '
                  'blocks of %.3f MiB' % (name, placement, *sent, elsewhere / 36))
            assert elsewhere / 36 <= sum(sent) < elsewhere / 36 * 1.05, ranks


def check_counters(nodes):
    """This side of the counters agrees with itself: what one sends another receives."""
    first, second = nodes.counters()
    assert first['sent'] > MIB * TIMES and second['received'] > MIB * TIMES, (first, second)


if 'openmpi' in os.environ.get('RGT_MPIEXEC', ''):
    print('only for MPICH')
    sys.exit(77)
try:
    with tempfile.TemporaryDirectory() as folder, cluster.Nodes(2, network=True) as pair:
        program = compile_traffic(folder)
        check_send(pair, program)
        show_broadcast(pair, program)
        check_collective(pair, program, 'rg_bcast', 'bcast', 1.05)
        check_collective(pair, program, 'rg_allreduce', 'allreduce', 2.1)
        check_collective(pair, program, 'rg_allgatherv', 'allgatherv', 1.05)
        check_uneven(pair, program)
        check_counters(pair)
except cluster.Unavailable as why:
    print(why)
    sys.exit(77)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The last messages before MPI_Finalize arrive, although the receiver on the other node is slow
and the sockets are full: with polite waiting alone, and with MPI's collectives served.

time: 240
beside: yes
"""
import os
import sys

import cluster

BUILD = os.path.abspath(os.environ.get('RGT_BUILD', 'build'))
PROGRAM = BUILD + '/tests/plain_last'
# A message does not fit into what is free in the socket: the end of it stays in UCX.
SMALL_SOCKETS = {'UCX_TCP_SNDBUF': '8k', 'UCX_TCP_RCVBUF': '8k'}


def send(nodes, library, message, last, **env):
    """Four pairs of processes; the receivers tell what was wrong."""
    given = ['LD_PRELOAD=%s/lib/%s' % (BUILD, library)] + ['%s=%s' % e for e in env.items()]
    command = nodes.mpiexec(8, 4) + ['env', *given, PROGRAM, str(message), str(last)]
    status, text = nodes.run(command, 60)
    assert status == 0 and text.count(' 0 bytes wrong\n') == 4, (library, message, last, env, status, text)


if 'openmpi' in os.environ.get('RGT_MPIEXEC', ''):
    print('only for MPICH')
    sys.exit(77)
if 'san' in os.path.basename(BUILD):
    print('a program would have to be linked with the sanitizer')
    sys.exit(77)
try:
    with cluster.Nodes(2) as pair:
        for each in ['libregroup-polite.so', 'libregroup-mpi.so']:
            send(pair, each, 5000, 5000, **SMALL_SOCKETS)
            send(pair, each, 8000, 3, **SMALL_SOCKETS)
        send(pair, 'libregroup-polite.so', 100, 100, **SMALL_SOCKETS)
        send(pair, 'libregroup-polite.so', 8000, 200000)
except cluster.Unavailable as why:
    print(why)
    sys.exit(77)

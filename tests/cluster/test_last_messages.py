#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The last messages before MPI_Finalize arrive, although the receiver on the other node is slow
and the sockets are full: with polite waiting alone, and with MPI's collectives served.

tier: quick
time: 240
beside: yes
"""
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'mpi'))
from preload import (LIBRARY, OPENMPI, POLITE, cluster, run_on, skip, skip_sanitized,  # noqa: E402
                     under)

# A message does not fit into what is free in the socket: the end of it stays in UCX.
SMALL_SOCKETS = {'UCX_TCP_SNDBUF': '8k', 'UCX_TCP_RCVBUF': '8k'}


def send(nodes, library, message, last, **env):
    """Four pairs of processes; the receivers tell what was wrong."""
    words = under(library, 'tests/plain_last', str(message), str(last), **env)
    text, said = run_on(nodes, (8, 4), words)
    assert text.count(' 0 bytes wrong\n') == 4, (words, text, said)


def hangs_by_itself():
    """Whether UCX is 1.18 or newer: with sockets so small it hangs in programs of MPI alone, and where
    the library adds no more than polite waiting."""
    major, minor, patch = (ctypes.c_uint() for _ in range(3))
    ctypes.CDLL('libucp.so.0').ucp_get_version(*map(ctypes.byref, (major, minor, patch)))
    return (major.value, minor.value) >= (1, 18)


if OPENMPI:
    skip('only for MPICH')
skip_sanitized()
try:
    with cluster.Nodes(2) as pair:
        for each in [POLITE, LIBRARY]:
            sockets = {} if each == POLITE and hangs_by_itself() else SMALL_SOCKETS
            send(pair, each, 5000, 5000, **sockets)
            send(pair, each, 8000, 3, **sockets)
        send(pair, POLITE, 100, 100, **SMALL_SOCKETS)
        send(pair, POLITE, 8000, 200000)
except cluster.Unavailable as why:
    skip(why)

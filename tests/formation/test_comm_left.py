#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Creations of communicators that timed out, and what their members have left behind, leave no warning
of UCX's at the end of MPI: of test_comm_errors, and of a preloaded program.

time: 60
beside: yes
"""
import os
import subprocess

BUILD = os.path.abspath(os.environ['RGT_BUILD'])
MPIEXEC = os.environ['RGT_MPIEXEC'].split()


def said(np, *words, **variables):
    """Standard error."""
    done = subprocess.run([*MPIEXEC, '-n', str(np), *words], capture_output=True, text=True,
                          env=dict(os.environ, RG_STALL_REPORT='0', **variables))
    assert done.returncode == 0, (np, words, done)
    return done.stderr


for size in [3, 4, 7]:
    text = said(size, BUILD + '/tests/test_comm_errors')
    assert 'UCX' not in text, (size, text)
    if 'san' not in os.path.basename(BUILD):
        text = said(size, 'env', 'LD_PRELOAD=%s/lib/libregroup-mpi.so' % BUILD, BUILD + '/tests/plain_late', 'create',
                    RG_TIMEOUT='0.5')
        assert 'UCX' not in text, (size, text)

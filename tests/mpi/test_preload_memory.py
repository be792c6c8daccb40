#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-mpi.so where one process has no memory for a communicator's group: all members pass
their calls on to MPI, on one node and on two.

time: 120
beside: yes
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'cluster'))
import cluster  # noqa: E402

BUILD = os.path.abspath(os.environ.get('RGT_BUILD', 'build'))
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = BUILD + '/tests/plain_memory'
LIBRARY = BUILD + '/lib/libregroup-mpi.so'
POLITE = BUILD + '/lib/libregroup-polite.so'
if 'san' in os.path.basename(BUILD):
    print('a program would have to be linked with the sanitizer')
    sys.exit(77)


def under(library):
    return ['env', 'LD_PRELOAD=' + library, 'RG_MPI_REPORT=1', PROGRAM]


def here(np, library):
    """Standard output and standard error."""
    done = subprocess.run(['timeout', '60', *MPIEXEC, '-n', str(np), *under(library)],
                          capture_output=True, text=True)
    assert done.returncode == 0, (np, library, done)
    return done.stdout, done.stderr


def sums(text):
    return sorted(re.findall(r'^(?:all|halves|alone) .*$', text, re.M))


def check(np, text, said, plain):
    """Same results; calls were passed on, others were served; the reason was told."""
    assert sums(text) == sums(plain) and len(sums(text)) == 3, (np, text, plain)
    rows = re.findall(r'^regroup-mpi: allreduce +(\d+) +0 +(\d+) +0$', said, re.M)
    assert len(rows) == 1 and int(rows[0][0]) > 0 and int(rows[0][1]) > 0, (np, said)
    assert re.search('warning: calls on a communicator are passed on to MPI: .*no memory', said), said


for size in [1, 2, 3, 4, 7]:
    check(size, *here(size, LIBRARY), here(size, POLITE)[0])
if 'openmpi' not in MPIEXEC[0]:
    try:
        with cluster.Nodes(2) as pair:
            with tempfile.TemporaryFile('w+') as errors:
                status, output = pair.run(pair.mpiexec(4, 2, 'cyclic') + under(LIBRARY), 60,
                                          stderr=errors)
                errors.seek(0)
                told = errors.read()
            assert status == 0, (output, told)
            check(4, output, told, here(4, POLITE)[0])
    except cluster.Unavailable as why:
        print(why)

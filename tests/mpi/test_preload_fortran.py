#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-mpi.so serves windows that Fortran uses by mpif.h, mpi and mpi_f08, also where C and
Fortran use the same window, inside a node and over two.

time: 120
beside: yes
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'cluster'))
import cluster  # noqa: E402

LIBRARY = os.path.abspath(os.environ['RGT_BUILD'] + '/lib/libregroup-mpi.so')
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
if 'san' in os.path.basename(os.environ['RGT_BUILD']):
    print('a program would have to be linked with the sanitizer')
    sys.exit(77)
if 'openmpi' in MPIEXEC[0]:
    print("Open MPI's windows are its own")
    sys.exit(77)
for tool in ['mpifort.mpich', 'mpicc.mpich', 'gfortran']:
    if not shutil.which(tool):
        print('no', tool)
        sys.exit(77)


def build(folder):
    program, c_part = folder + '/fortran_windows', folder + '/c_part.o'
    for command in [['mpicc.mpich', '-c', HERE + '/fortran_windows.c', '-o', c_part],
                    ['mpifort.mpich', '-fcray-pointer', '-J' + folder,
                     HERE + '/fortran_windows.f90', c_part, '-o', program]]:
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    return ['env', 'LD_PRELOAD=' + LIBRARY, 'LD_BIND_NOW=1', 'RG_MPI_REPORT=1', program]


def check(np, status, text):
    """Each process has made three windows, all of which are served."""
    assert status == 0 and re.search('^wrong 0$', text, re.M), (np, status, text)
    assert re.search(r'^regroup-mpi: rma +%d +0 +0 +0$' % (3 * np), text, re.M), (np, text)


with tempfile.TemporaryDirectory() as scratch:
    made = build(scratch)
    for size in [1, 2, 3, 4, 7]:
        done = subprocess.run(['timeout', '60', *MPIEXEC, '-n', str(size), *made], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(size, done.returncode, done.stdout)
    try:
        with cluster.Nodes(2) as pair:
            for size, most, placement in [(3, 2, 'block'), (4, 2, 'cyclic')]:
                check(size, *pair.run(pair.mpiexec(size, most, placement) + made, 60))
    except cluster.Unavailable as reason:
        print('not over nodes:', reason)

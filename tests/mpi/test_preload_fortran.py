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
import tempfile

from preload import (LIBRARY, cluster, report, run, run_on, run_tests, skip, skip_openmpi,
                     skip_sanitized, under)

HERE = os.path.dirname(os.path.abspath(__file__))
skip_sanitized()
skip_openmpi()
if '--disable-fortran' in run_tests.launcher_text():
    skip('this MPI has no Fortran')
for tool in ['mpifort.mpich', 'mpicc.mpich', 'gfortran']:
    if not shutil.which(tool):
        skip('no ' + tool)


def build(folder):
    program, c_part = folder + '/fortran_windows', folder + '/c_part.o'
    for command in [['mpicc.mpich', '-c', HERE + '/fortran_windows.c', '-o', c_part],
                    ['mpifort.mpich', '-fcray-pointer', '-J' + folder,
                     HERE + '/fortran_windows.f90', c_part, '-o', program]]:
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    return under(LIBRARY, program, LD_BIND_NOW='1', RG_MPI_REPORT='1')


def check(np, text, said):
    """Each process has made three windows, all of which are served."""
    assert re.search('^wrong 0$', text, re.M), (np, text, said)
    assert report(said)['rma'] == [3 * np, 0, 0, 0], (np, said)


with tempfile.TemporaryDirectory() as scratch:
    made = build(scratch)
    for size in [1, 2, 3, 4, 7]:
        check(size, *run(size, made))
    try:
        with cluster.Nodes(2) as pair:
            for shape in [(3, 2, 'block'), (4, 2, 'cyclic')]:
                check(shape[0], *run_on(pair, shape, made))
    except cluster.Unavailable as reason:
        print('not over nodes:', reason)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""MPI's fault-tolerance extension in Fortran: modules mpi_ext and mpi_ext_f08, compiled with the program
and linked by regroup-mpi's pkg-config file. See fortran_fault.f90.

time: 120
beside: yes
few: 2
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'recovery'))
import deaths  # noqa: E402
import jobs  # noqa: E402
from preload import BUILD, HERE, run_tests, skip, skip_sanitized  # noqa: E402

skip_sanitized()
if not jobs.OVER_UCX or '--disable-fortran' in run_tests.launcher_text():
    skip('this MPI has no Fortran, or its calls cannot be interrupted')
for tool in ['mpifort.mpich', 'gfortran', 'pkg-config']:
    if not shutil.which(tool):
        skip('no ' + tool)


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, PKG_CONFIG_PATH=BUILD + '/lib/pkgconfig'))
    assert done.returncode == 0, (words, done.stdout)
    return done.stdout


def in_f08(text):
    """The same program with mpi_f08."""
    for old, new in [('use mpi\n', 'use mpi_f08\n'), ('use mpi_ext\n', 'use mpi_ext_f08\n'),
                     ('ierr, comm, again, group, n, flag, request, wrong', 'ierr, n, flag, wrong'),
                     ('  logical :: found', '  type(MPI_Comm) :: comm, again\n  type(MPI_Group) :: group\n'
                      '  type(MPI_Request) :: request\n  logical :: found')]:
        assert old in text, old
        text = text.replace(old, new)
    return text


def build(folder, name, text):
    source, program = '%s/%s.f90' % (folder, name), '%s/%s' % (folder, name)
    with open(source, 'w') as f:
        f.write(text)
    words = call('pkg-config', '--cflags', '--libs', 'regroup-mpi').split()
    modules = next(w[2:] for w in words if w.endswith('/ulfm')) + '/mpi_ext.f90'
    call('mpifort.mpich', '-J' + folder, modules, source, '-o', program, *words)
    return program


with tempfile.TemporaryDirectory() as scratch:
    with open(HERE + '/fortran_fault.f90') as f:
        given = f.read()
    for name, text in [('mpi_ext', given), ('mpi_ext_f08', in_f08(given))]:
        made = build(scratch, name, text)
        for where in jobs.SURVIVED:
            for np in [3, 4]:
                status, said = jobs.output([*where.begin(np), '-n', str(np), made], dict(deaths.ENV, **where.env))
                assert status == 0 and 'RESULT%3d  0\n' % (np - 1) in said, (name, where.name, np, status, said)

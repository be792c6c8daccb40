#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The table of MPICH's versions in pgroup/mpich/mpich.c is right for the MPICH that is here: a message with
MPICH's own mark of a failed process makes MPI_Comm_create_group ask the error handler, or ends the process.

tier: quick
beside: yes
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
SOURCE = 'tests/runtime/failure_mark.c'


def skip(reason):
    print(reason)
    sys.exit(77)


def marked():
    """1 or 0, as the table has it for this MPICH."""
    if 'openmpi' in os.environ['RGT_MPIEXEC']:
        skip('the mark of a failed process is of MPICH')
    said = run_tests.launcher_text()
    version = re.search(r'Version: +(\d+)\.(\d+)', said)
    with open('pgroup/mpich/mpich.c') as f:
        table = re.search(r'interruptible\[\] = \{(.*)\};', f.read()).group(1)
    known = {m[:2]: int(m[2]) for m in re.findall(r'(\d+), (\d+), ([01])', table)}
    assert len(known) == 2, table
    if 'ch4:ucx' not in said or not version or version.groups() not in known:
        skip('the table has MPICH with UCX alone, some versions')
    return known[version.groups()]


def run(program, *mark):
    done = subprocess.run([*MPIEXEC, '-n', '2', program, *mark], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def main(program):
    expected = marked()
    made = subprocess.run(['mpicc.mpich', '-D_GNU_SOURCE', SOURCE, '-o', program, '-rdynamic', '-ldl'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if 'ucp/api/ucp.h' in made.stdout:
        skip("UCX's headers are not there")
    assert made.returncode == 0, made.stdout
    plain, with_mark = run(program), run(program, 'mark')
    assert plain[:2] == (0, 'error 0, handler 0\n'), plain
    if expected:  # UCX may warn of what it has received and MPICH has not asked for
        assert with_mark[0] == 0 and with_mark[1].startswith('error 1, handler 1\n'), with_mark
    else:  # mpiexec may lose what MPICH says: a fatal error of MPIC_Sendrecv
        assert with_mark[0] and 'handler' not in with_mark[1], with_mark


with tempfile.TemporaryDirectory() as folder:
    main(folder + '/failure_mark')

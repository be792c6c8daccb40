#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""MPI's fault-tolerance calls with requests, on inter-communicators, with handlers, and at the end of a job,
in a program that is linked with libregroup-mpi by its pkg-config file: see ulfm_cases.c.

time: 180
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
from preload import BUILD, HERE, mpicc, skip, skip_sanitized  # noqa: E402

skip_sanitized()
if not jobs.OVER_UCX or not shutil.which('pkg-config'):
    skip('calls of this MPI cannot be interrupted, or there is no pkg-config')


def build(folder):
    words = subprocess.run(['pkg-config', '--cflags', '--libs', 'regroup-mpi'], capture_output=True, text=True, check=True,
                           env=dict(os.environ, PKG_CONFIG_PATH=BUILD + '/lib/pkgconfig')).stdout.split()
    mpicc('-Wno-stringop-overflow', HERE + '/ulfm_cases.c', '-o', folder + '/ulfm_cases', *words)
    return folder + '/ulfm_cases'


def run(where, np, case):
    status, text = jobs.output([*where.begin(np), '-n', str(np), program, case], dict(deaths.ENV, **where.env), 100)
    return status, deaths.SURVIVED.sub('', text)


def check(where, np, case):
    status, text = run(where, np, case)
    assert status == 0 and 'WRONG' not in text and 'RESULT %s 0\n' % case in text, (where.name, np, case, status, text)
    return text


def test_everywhere():
    for where in jobs.SURVIVED:
        for np in [2, 3, 4]:
            for case in ['two_agreements', 'agreement_without_one', 'agreement_of_both_kinds',
                         'shrinks_and_copies', 'synchronous_sends', 'sends_to_the_dead', 'handlers', 'jumps_out',
                         'files', 'graphs', 'matched_messages', 'partitions', 'looks']:
                check(where, np, case)
        for np in [4, 7]:
            check(where, np, 'two_sides')


def test_many_revocations():
    check(jobs.ONE, 4, 'many_revocations')


def test_attributes():
    for where in jobs.SURVIVED:
        text = check(where, 3, 'attributes_of_self')
        assert text.count('DELETED 3\n') == 2, (where.name, text)


def test_abort():
    status, text = run(jobs.ONE, 3, 'aborts')
    assert status != 0 and 'RESULT' not in text, (status, text)


def test_what_cannot_end():
    for case, where, call in [('waits_for_file', jobs.ONE, 'MPI_File_write_at_all'), ('waits_for_window', jobs.TWO, 'MPI_Win_fence')]:
        status, text = run(where, 4, case)
        assert status != 0 and 'regroup: %s: rank 1 of MPI_COMM_WORLD has died' % call in text, (case, status, text)


with tempfile.TemporaryDirectory() as scratch:
    program = build(scratch)
    test_everywhere()
    test_many_revocations()
    test_attributes()
    test_abort()
    test_what_cannot_end()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A program that opens libregroup.so itself gets guards if it has one thread and MPI has not begun;
otherwise a line says why not, and the job runs. A death is survived also where the program calls MPI's
own MPI_Finalize, and where a thread in the guard takes signals. See opening.c, mpi/thread_tool.c, waiting.c.

beside: yes
time: 120
"""
import os
import subprocess
import tempfile

import deaths
import jobs
import preload

preload.skip_sanitized()
HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = preload.BUILD + '/lib/libregroup.so'


def run(preloaded, program, np, *arguments):
    words = preload.under(preloaded, program, *arguments)
    return jobs.output([*jobs.MPIEXEC, '-n', str(np), *words], deaths.ENV, 60)


def without_guard(program, how, why):
    for np in 1, 3:
        status, text = run(preload.POLITE, program, np, LIBRARY, how)
        assert status == 0 and text.count('ENDED 0\n') == np, (how, np, status, text)
        assert text.count('the library was loaded when %s:' % why) == np, (how, np, text)


with tempfile.TemporaryDirectory() as folder:
    program, thread = folder + '/opening', folder + '/thread_tool.so'
    preload.mpicc('-pthread', '-D_GNU_SOURCE', '-Iinclude', HERE + '/opening.c', '-o', program, '-ldl')
    subprocess.run(['gcc', '-shared', '-fPIC', '-pthread', '-Wl,-z,initfirst', HERE + '/../mpi/thread_tool.c', '-o', thread],
                   check=True)
    for np in 2, 3, 7:
        status, text = run(preload.POLITE, program, np, LIBRARY, 'alone')
        assert status == 0 and text.count('ENDED 17\n') == np - 1, (np, status, text)
        assert 'was loaded' not in text, (np, text)
    without_guard(program, 'threads', 'the process has several threads')
    without_guard(program, 'begun', 'MPI has begun')
    status, text = run(thread, 'tests/waiting', 4, 'sleep', '0')
    assert status == 0 and 'SURVIVED 3\n' in text, (status, text)

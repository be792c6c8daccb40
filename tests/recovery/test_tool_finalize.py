#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A tool that intercepts MPI_Finalize and passes it on as PMPI_Finalize, before a program that is
linked with the shared library: a job that survives ends after a death, and so does one without a
death, with RG_SURVIVE and without. See survivors.c.

beside: yes
time: 60
"""
import os
import re
import tempfile

import deaths
import jobs
import preload

preload.skip_sanitized()
HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = preload.BUILD + '/lib'


def check(where, np, words, plan, deaths_seen, **env):
    command = [*where.begin(np), '-n', str(np), *words, plan, '30']
    status, text = jobs.output(command, dict(deaths.ENV, **where.env, **env))
    found = re.search(r'^RESULT 30 (\d+) (\d+) ', text, re.M)
    left = np - deaths_seen
    assert status == 0 and found, (where.name, np, plan, env, status, text)
    assert (int(found[1]), int(found[2])) == (left, deaths_seen), (where.name, np, plan, env, text)
    assert text.count('tool: MPI_Finalize\n') == left, (where.name, np, plan, env, text)


with tempfile.TemporaryDirectory() as folder:
    program = folder + '/survivors'
    preload.mpicc('-D_GNU_SOURCE', '-Iinclude', HERE + '/survivors.c', '-o', program, '-L' + LIBRARIES,
                  '-lregroup', '-Wl,-rpath,' + LIBRARIES)
    tooled = preload.under(preload.make_tool(folder, 'finalize_tool'), program)
    for size in 1, 2, 3, 4, 7:
        check(jobs.ONE, size, tooled, '', 0)
        check(jobs.ONE, size, tooled, '', 0, RG_SURVIVE='0')
    for size, plan, dead in (2, '1:5', 1), (3, '0:5', 1), (4, '1:5,2:9', 2), (7, '3:5,6:9', 2):
        check(jobs.ONE, size, tooled, plan, dead)
    check(jobs.TWO, 4, tooled, '1:5', 1)

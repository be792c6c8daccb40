#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A rank that ends by exit while the others go on, before MPI_Init or in the library, ends the job: one
line names it and its status, and the job's status is never 0. So does one whose program cannot
begin. Where all end before MPI_Init, after a wrong option for instance, nothing is said. Each death that
the job survives has a line, too. See early.c.

time: 120
beside: yes
"""
import concurrent.futures
import os
import re
import subprocess
import tempfile

import deaths
import jobs
import preload

EARLY = jobs.path('tests/early')
LINE = re.compile(r'^regroup: .*$', re.M)
BEGIN = 'regroup: rank 1 has ended with status %s before rg_init had returned everywhere: the job ends'
INSIDE = 'regroup: rank 1 has ended with status %s before rg_finalize: the job ends'
AFTER = 'regroup: rank 1 has ended with status %s before MPI_Finalize: the job ends'
NODE = ("regroup: all ranks of the launcher's node 1 (from 0) have ended before MPI_Init (is a library missing "
        'there?): the job ends')
UNSTARTED = 'regroup: rank 1 has ended before its program began (is a library missing?): the job ends'
CASES = [('before', '0', 1, BEGIN), ('before', '5', 5, BEGIN), ('before', '_5', 5, BEGIN),
         ('between', '0', 1, BEGIN), ('between', '5', 5, BEGIN),
         ('inside', '0', 1, INSIDE), ('inside', '5', 5, INSIDE), ('inside', '_0', 1, INSIDE),
         ('after', '0', 1, AFTER), ('after', '5', 5, AFTER), ('last', '5', 5, None)]


def check(where, words, status, lines):
    got, text = jobs.output([*where.begin(4), *words], dict(deaths.ENV, **where.env), 60)
    assert (got, LINE.findall(text)) == (status, lines), (where.name, words, got, text)


def test_exits(where):
    def run(case):
        moment, end, status, line = case
        if moment == 'between':  # MPI in a process that connects to it may abort the job before
            got, text = jobs.output([*where.begin(4), '-n', '4', EARLY, '1', moment, end],
                                    dict(deaths.ENV, **where.env), 60)
            assert got and set(LINE.findall(text)) <= {line % end}, (got, text)
            return
        check(where, ['-n', '4', EARLY, '1', moment, end], status,
              [line % end.strip('_')] if line else [])
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # most of the time they wait
        list(pool.map(run, CASES))
    check(where, ['-n', '4', EARLY, 'all', 'before', '0'], 0, [])
    check(where, ['-n', '4', EARLY, 'all', 'before', '2'], 2, [])
    for moment in 'first', 'inside':
        check(where, ['-n', '4', EARLY, '1', moment, 'abort'], 0,
              ['regroup: rank 1 was ended by signal 6 (Aborted); 3 go on'])


def test_unstarted(folder):
    """A library or the program itself is missing on one rank, or on all of a node; or these end at once."""
    for name in 'gone.c', 'lacks.c':
        with open(os.path.join(folder, name), 'w') as f:
            f.write('int gone(void);\nint main(void) { return gone(); }\n' if name == 'lacks.c' else
                    'int gone(void);\nint gone(void) { return 0; }\n')
    run = dict(cwd=folder, check=True)
    subprocess.run(['gcc', '-shared', '-fPIC', 'gone.c', '-o', 'libgone.so'], **run)
    subprocess.run(['gcc', 'lacks.c', '-L.', '-lgone', '-o', 'lacks'], **run)
    os.remove(os.path.join(folder, 'libgone.so'))
    for program in folder + '/lacks', folder + '/none':
        check(jobs.ONE, ['-n', '1', EARLY, '9', 'before', ':', '-n', '1', program, ':', '-n', '1', EARLY,
                         '9', 'before'], 127, [UNSTARTED])
    for words in [folder + '/lacks'], [folder + '/none'], [EARLY, 'all', 'before', '0']:
        check(jobs.TWO, [*jobs.hosts(folder, 2, 2), '-n', '2', EARLY, '9', 'before', ':', '-n', '2', *words],
              127, [NODE])
    check(jobs.TWO, [*jobs.hosts(folder, 2, 2), '-n', '4', EARLY, 'all', 'before', '0'], 0, [])


def test_other_child(folder):
    """A child that mpiexec has from the shell in whose place it runs is no node, also when it has ended."""
    job = ['sh', '-c', 'sleep 0.1 & exec "$@"', 'sh', *jobs.TWO.begin(4), *jobs.hosts(folder, 2, 2),
           '-n', '4', EARLY, 'none', 'slow']
    got, text = jobs.output(job, dict(deaths.ENV, **jobs.TWO.env), 60)
    assert (got, LINE.findall(text)) == (0, []), (got, text)


def test_plain(folder):
    """A program of MPI's alone ends as usual: UCX_TLS is set where the library is. Over TCP it would hang
    in MPI_Finalize in five of six runs."""
    with open(os.path.join(folder, 'plain.c'), 'w') as f:
        f.write('#include <mpi.h>\n#include <stdlib.h>\nint main(void) { MPI_Init(0, 0); MPI_Comm half; int r; '
                'MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Comm_split(MPI_COMM_WORLD, r % 2, 0, &half); '
                'MPI_Barrier(half); MPI_Finalize(); return getenv("UCX_TLS") != 0; }\n')
    preload.mpicc('-w', folder + '/plain.c', '-o', folder + '/plain')
    env = {k: v for k, v in os.environ.items() if k != 'UCX_TLS'}
    for _ in range(2):
        assert jobs.output([jobs.path('bin/regroup-run'), *jobs.MPIEXEC[1:], '-n', '4',
                            folder + '/plain'], env, 60) == (0, '')


for place in jobs.SURVIVED:
    test_exits(place)
with tempfile.TemporaryDirectory() as scratch:
    test_unstarted(scratch)
    test_other_child(scratch)
    test_plain(scratch)

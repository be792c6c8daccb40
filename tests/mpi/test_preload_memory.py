#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-mpi.so where one process has no memory for a communicator's group: it is formed with
what each process has in reserve. Communicators that are freed. Memory of MPI_Alloc_mem in a child.

time: 120
beside: yes
"""
import re

from preload import LIBRARY, OPENMPI, POLITE, report, run, skip_sanitized, under

skip_sanitized()


def words(library):
    return under(library, 'tests/plain_memory', RG_MPI_REPORT='1')


def sums(text):
    return sorted(re.findall(r'^(?:all|halves|alone) .*$', text, re.M))


def check(np, text, said, plain):
    """Same results; the calls were served, by what the process has in reserve."""
    assert sums(text) == sums(plain) and len(sums(text)) == 3, (np, text, plain)
    served, not_chosen, other_comm, other_case = report(said)['allreduce']
    assert served > 0 and other_comm == not_chosen == other_case == 0, (np, said)


for size in [1, 2, 3, 4, 7]:
    check(size, *run(size, words(LIBRARY)), run(size, words(POLITE))[0])
# A communicator that is gone leaves nothing.
for size, times in [(1, 40000), (2, 20000)]:
    text, said = run(size, under(LIBRARY, 'tests/plain_heap', str(times)))
    assert text == 'bytes%s\n' % (size * ' 0'), (size, text, said)
# The memory is the node's, and a child shares it; without windows it is MPI's, and a child has its own.
for size in [1, 2, 4]:
    for chosen, own in [('all', '0'), ('all,-rma', '1')]:
        text, said = run(size, under(LIBRARY, 'tests/plain_forks', RG_MPI=chosen))
        want = ''.join('%s%s\n' % (what, (' ' + has) * size)
                       for what, has in [('own of child', own), ('own of parent', own), ('wrong', '0')])
        assert OPENMPI or text == want, (size, chosen, text, said)

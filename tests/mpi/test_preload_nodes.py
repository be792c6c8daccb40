#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-mpi.so on windows that span nodes: accesses inside a node are made by the library, all
else by MPI, and the programs of this folder find no difference but that targets on the same node
need not take part.

time: 300
beside: yes
"""
import re

from preload import (LIBRARY, POLITE, SEED, cluster, report, run_on, skip, skip_openmpi,
                     skip_sanitized, under)

skip_sanitized()
skip_openmpi()
SHAPES = [(2, 1, 'block'), (3, 2, 'block'), (4, 2, 'cyclic'), (7, 4, 'block')]


def run(nodes, program, shape, library, *arguments):
    return run_on(nodes, shape, under(library, 'tests/' + program, *arguments, LD_BIND_NOW='1',
                                      RG_MPI_REPORT='1'))


def check_same(nodes, program, shape, counts, *arguments):
    """counts: of each process's windows."""
    want, _ = run(nodes, program, shape, POLITE, *arguments)
    text, said = run(nodes, program, shape, LIBRARY, *arguments)
    assert text == want, '%s %s:\n%s\n--- instead of\n%s' % (program, shape, text, want)
    assert report(said)['rma'] == [n * shape[0] for n in counts], (program, shape, said)


def check_all(nodes):
    for shape in SHAPES:
        # Of four windows that of the processes' own memory is MPI's.
        check_same(nodes, 'plain_window_random', shape, [3, 0, 1, 0], SEED, '6')
        text, said = run(nodes, 'plain_window_passive', shape, LIBRARY)
        assert report(said)['rma'] == [2 * shape[0], 0, 0, 0], (text, said)
    # There, a window of the program's own memory and a dynamic one are MPI's.
    check_same(nodes, 'plain_windows', (3, 2, 'cyclic'), [2, 0, 1, 1], SEED)
    check_same(nodes, 'plain_window_errors', (3, 2, 'block'), [1, 0, 0, 0])
    text, _ = run(nodes, 'plain_window_errors', (3, 2, 'block'), LIBRARY, '20')
    said = re.findall(r'^(beyond|operation|kept|many) (\d+) (\d+) (\d+)$', text, re.M)
    assert [row[0] for row in said] == ['beyond'] * 4 + ['operation', 'kept', 'many'], text
    assert all(row[1:] == (('0',) * 3 if row[0] == 'many' else ('1',) * 3) for row in said), text


print('seed', SEED)
try:
    with cluster.Nodes(2) as pair:
        check_all(pair)
except cluster.Unavailable as reason:
    skip(reason)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-mpi.so on windows that span nodes: accesses inside a node are made by the library, all
else by MPI, and the programs of this folder find no difference but that targets on the same node
need not take part.

time: 300
beside: yes
"""
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cluster'))
import cluster  # noqa: E402

BUILD = os.environ['RGT_BUILD']
LIBRARY = os.path.abspath(BUILD + '/lib/libregroup-mpi.so')
POLITE = os.path.abspath(BUILD + '/lib/libregroup-polite.so')  # else MPI alone takes minutes
SEED = os.environ.get('RGT_SEED') or str(random.randrange(1 << 31))
if 'san' in os.path.basename(BUILD):
    print('a program would have to be linked with the sanitizer')
    sys.exit(77)
if 'openmpi' in os.environ['RGT_MPIEXEC']:
    print("Open MPI's windows are its own")
    sys.exit(77)
SHAPES = [(2, 1, 'block'), (3, 2, 'block'), (4, 2, 'cyclic'), (7, 4, 'block')]


def run(nodes, program, shape, library, *arguments):
    """Standard output and standard error."""
    command = nodes.mpiexec(*shape) + ['env', 'LD_PRELOAD=' + library, 'LD_BIND_NOW=1',
                                       'RG_MPI_REPORT=1', '%s/tests/%s' % (BUILD, program), *arguments]
    process = nodes.start(['timeout', '120'] + command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    text, said = process.communicate()
    assert process.returncode == 0, (program, shape, library, text, said)
    return text, said


def windows(said):
    """The row of the report: served, not chosen, other comm, other case."""
    row = re.search(r'^regroup-mpi: rma +(\d+) +(\d+) +(\d+) +(\d+)$', said, re.M)
    return [int(n) for n in row.groups()]


def check_same(nodes, program, shape, counts, *arguments):
    """counts: of each process's windows."""
    want, _ = run(nodes, program, shape, POLITE, *arguments)
    text, said = run(nodes, program, shape, LIBRARY, *arguments)
    assert text == want, '%s %s:\n%s\n--- instead of\n%s' % (program, shape, text, want)
    assert windows(said) == [n * shape[0] for n in counts], (program, shape, said)


def check_all(nodes):
    for shape in SHAPES:
        # Of four windows that of the processes' own memory is MPI's.
        check_same(nodes, 'plain_window_random', shape, [3, 0, 1, 0], SEED, '6')
        text, said = run(nodes, 'plain_window_passive', shape, LIBRARY)
        assert windows(said) == [2 * shape[0], 0, 0, 0], (text, said)
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
    print(reason)
    sys.exit(77)

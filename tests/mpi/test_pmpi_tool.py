#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-mpi.so beside another tool on MPI's profiling interface, in either order: who sees which
calls is as docs/preload.md says, and the program's results are the same. The tool begins in its own
MPI_Init, and no look of the library's for messages comes to it.

time: 120
beside: yes
"""
import re
import shutil
import subprocess
import tempfile

from preload import LIBRARY, OPENMPI, make_tool, run, run_tests, skip_sanitized, under

WINDOWS = not OPENMPI  # with Open MPI they are MPI's
skip_sanitized()


def count(np, libraries, choice='all'):
    """What the program prints; the tool's counts; the calls that Regroup served, by operation."""
    text, said = run(np, under(':'.join(libraries), 'tests/plain_tool', RG_MPI_REPORT='1',
                               RG_MPI=choice))
    words = re.search(r'^tool: (.*)$', said, re.M)
    words = words[1].split() if words else []
    tool = {name: int(n) for name, n in zip(words[::2], words[1::2])}
    served = {name: int(n) for name, n in
              re.findall(r'^regroup-mpi: +(\w+) +(\d+)(?: +\d+)+$', said, re.M)}
    return text, tool, served


def check(np, tool):
    made = {'barrier': 5 * np, 'allreduce': 3 * np, 'put': 4 * np, 'look': 0}
    plain, counts, served = count(np, [tool])
    sends = counts.pop('send')
    assert counts == made and sends >= 2 * np and not served, (counts, served)

    # The tool first: it sees all calls. What it passes on is MPI's, but for windows.
    text, counts, served = count(np, [tool, LIBRARY])
    assert text == plain and counts == dict(made, send=sends), (text, counts)
    assert 'barrier' not in served and 'allreduce' not in served, served
    assert not WINDOWS or served['put'] == made['put'], served

    # Regroup first: the tool sees what Regroup does not intercept, also where it serves nothing.
    for choice in ['all', 'none']:
        text, counts, served = count(np, [LIBRARY, tool], choice)
        assert text == plain and counts['send'] == sends, (text, counts)
        assert counts['barrier'] == counts['allreduce'] == 0, counts
        assert counts['put'] == (0 if WINDOWS else made['put']), counts
        for name in ['barrier', 'allreduce'] + ['put'] * WINDOWS:
            assert served[name] == (made[name] if choice == 'all' else 0), (choice, served)


FORTRAN = '''
program made
  use mpi
  integer :: error
  call MPI_Init(error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
'''


def check_fortran(directory, tool):
    """In either order the tool begins and ends."""
    compiler = shutil.which('mpifort.mpich')
    if OPENMPI or not compiler or '--disable-fortran' in run_tests.launcher_text():
        return
    with open(directory + '/made.f90', 'w') as f:
        f.write(FORTRAN)
    subprocess.run([compiler, f.name, '-o', directory + '/made'], check=True, cwd=directory)
    for order, barriers in [([tool, LIBRARY], 2), ([LIBRARY, tool], 0)]:
        _, said = run(2, under(':'.join(order), directory + '/made'))
        assert 'tool: barrier %d ' % barriers in said, (order, said)


with tempfile.TemporaryDirectory() as folder:
    library = make_tool(folder)
    check_fortran(folder, library)
    for ranks in [1, 2, 3, 4, 7] if WINDOWS else [2, 3, 4, 7]:
        check(ranks, library)

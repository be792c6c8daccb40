#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Every call of MPI's that needs other processes ends on a revoked communicator, and after a death, in a
program of MPI alone with libregroup-mpi.so preloaded: see plain_fault_calls.c. What mpi.h declares is
tried, or listed here.

time: 240
beside: yes
few: 2
"""
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'recovery'))
import deaths  # noqa: E402
import jobs  # noqa: E402
from preload import LIBRARY, skip, skip_sanitized, under  # noqa: E402

skip_sanitized()
if not jobs.OVER_UCX:
    skip('calls of this MPI cannot be interrupted')

# Of all calls with a communicator, a request, a message, a window or a file: those that need no other process ...
LOCAL = re.compile('''MPI_(DUP_FN|Attr_.*|Comm_(delete|get|set)_(attr|info|name|errhandler|parent)|Comm_compare|Comm_group
    |Comm_rank|Comm_remote_(group|size)|Comm_size|Comm_test_inter|Pack|Pack_size|Unpack|(Comm|File|Win)_call_errhandler
    |(File|Win)_(get|set)_errhandler|Errhandler_(get|set)|Cancel|Grequest_.*|Request_free|Cart_(coords|get|map|rank|shift)
    |Cartdim_get|Dist_graph_neighbors.*|Graph_(get|map|neighbors.*)|Graphdims_get|Topo_test
    |Win_(delete|get|set)_(attr|info|name|group)|Win_(attach|detach|sync|shared_query))''', re.X)
# ... what other tests try, or what plain_fault_calls.c calls under another name ...
ELSEWHERE = set('''Comm_free Comm_disconnect Abort Wait Start Startall Pready Pready_list Pready_range Mrecv Imrecv
    Intercomm_create Comm_spawn Comm_spawn_multiple'''.split())
# ... and what docs/ulfm.md says to be MPI's.
MPIS = re.compile('''MPI_(Comm_create_from_group|Intercomm_create_from_groups|Comm_accept|Comm_connect|Comm_join
    |Accumulate|Compare_and_swap|Fetch_and_op|Get|Get_accumulate|Put|R(accumulate|get|get_accumulate|put)
    |File_(open|i(read|write).*)|Win_(complete|fence|flush.*|free|lock.*|post|start|test|unlock.*|wait))''', re.X)


def run(where, np, *arguments):
    words = [*where.begin(np), '-n', str(np), *under(LIBRARY, 'tests/plain_fault_calls', *map(str, arguments))]
    status, text = jobs.output(words, dict(deaths.ENV, **where.env))
    return status, deaths.SURVIVED.sub('', text)


def check(where, np, *arguments):
    status, text = run(where, np, *arguments)
    found = re.search(r'^RESULT (\d+) 0$', text, re.M)
    assert status == 0 and found and int(found[1]) > 0 and 'WRONG' not in text, (where.name, np, arguments, status, text)


def declared():
    """The functions of mpi.h that have such an argument."""
    header = subprocess.run(['mpicc.mpich', '-E', '-include', 'mpi.h', '-x', 'c', '/dev/null'], capture_output=True,
                            text=True, check=True).stdout
    found = re.findall(r'\bint\s+(MPI_[A-Z]\w+)\s*\(([^;]*?)\)[^;()]*(?:\(\([^;]*\)\))?;', header)
    return {name for name, arguments in found if not name.endswith('_c') and
            re.search(r'\bMPI_(Comm|Request|Message|Win)\b', arguments)}


def test_list():
    status, text = run(jobs.ONE, 1, 'list')
    tried = set(re.findall(r'^MPI_\w+$', text, re.M))
    assert status == 0 and len(tried) > 100, (status, text)
    left = {name for name in declared() - tried if not LOCAL.fullmatch(name) and not MPIS.fullmatch(name) and
            name[len('MPI_'):] not in ELSEWHERE}
    assert len(declared()) > 200 and not left, left
    return len(tried)


def test_revoked(count):
    for where in jobs.SURVIVED:
        check(where, 3, 'later', 0, count)
    check(jobs.ONE, 3, 'pending', 0, count)


def test_dead(count):
    """Each call is tried after a death, and some while it happens."""
    random.seed(jobs.SEED)
    for _ in range(count if jobs.FULL else 2):
        check(jobs.ONE, random.randint(2, 4), 'dead', random.randrange(count), count)


number = test_list()
test_dead(number)
test_revoked(number)

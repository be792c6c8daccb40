#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The shared libraries export what the headers promise, and nothing else.

tier: quick
beside: yes
"""
import glob
import os
import platform
import re
import subprocess
import sys

LIB = os.environ['RGT_BUILD'] + '/lib/'
if 'asan' in LIB or 'coverage' in LIB:
    print('a sanitizer, or gcov, exports names of its own')
    sys.exit(77)
UCX = {'ucp_worker_progress', 'ucp_disconnect_nb', 'ucp_worker_create', 'ucp_worker_destroy',
       'ucp_cleanup', 'ucp_request_release', 'fi_fabric'}
# Those after which polls in vain begin a new row (pgroup/mpich/polite_calls.c).
LOOKS = {'MPI_' + name for name in (
    'Wait Waitall Waitany Waitsome Test Testall Testany Testsome Request_get_status Iprobe Improbe '
    'Win_test Win_flush Win_flush_all Win_flush_local Win_flush_local_all Win_unlock Win_unlock_all Win_fence').split()}
START = {'MPI_Init', 'MPI_Init_thread'}
with open('include/regroup/version.h') as f:
    PRIVATE = '@@REGROUP_PRIVATE_' + re.search(r'RG_VERSION "(.*?)"', f.read()).group(1)
ASKED = {'rgi_polite_since', 'rgi_polite_polls', 'rgi_polite_report_to'}
SENT = {'ucp_tag_send_nbx', 'ucp_tag_send_sync_nbx', 'ucp_tag_recv_nbx', 'ucp_tag_msg_recv_nbx'}


def promised(headers):
    names = set()
    for header in headers:
        with open(header) as f:
            text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
        text = re.sub(r'\btypedef\b[^;{]*;', '', text)
        declared = set(re.findall(r'\b(rg_\w+)\(', text))
        found = set(re.findall(r'RG_API[^;(]*?\b(rg_\w+)\(', text))
        assert declared == found, '%s: without RG_API: %s' % (header, sorted(declared - found))
        names |= found
    return names


def exported(library):
    text = subprocess.run(['nm', '-D', '--defined-only', library], check=True, capture_output=True,
                          text=True).stdout
    return {line.split()[-1] for line in text.splitlines() if ' A ' not in line}


def compare(library, headers, more=frozenset()):
    """What is exported without a version."""
    want, have = promised(headers) | more, exported(LIB + library)
    assert len(want) > len(more), headers
    have = {name for name in have if not name.endswith(PRIVATE)}
    assert want == have, '%s: not exported: %s; exported without a prototype: %s' % (
        library, sorted(want - have), sorted(have - want))


everything = set(glob.glob('include/regroup/*.h')) - {'include/regroup/mpi-ext.h'}  # MPI's, by libregroup-mpi
arrays = set(glob.glob('include/regroup/array*.h')) | {'include/regroup/task.h',
                                                        'include/regroup/checkpoint.h'}
linalg, called = {'include/regroup/linalg.h'}, {'rgi_blas_begin', 'rgi_blas_end', 'rgi_blas_one'}
global_arrays = {'include/regroup/ga.h'}  # and Global Arrays' names: tests/ga
compare('libregroup.so', everything - arrays - linalg - global_arrays, UCX | SENT | LOOKS | {'MPI_Finalize', 'PMPI_Finalize'})
compare('libregroup-arrays.so', arrays, {'MPI_Win_allocate', 'rgi_armci_window_is_offered'} | called)
compare('libregroup-linalg.so', linalg)
compare('libregroup-polite.so', ['include/regroup/polite.h'], UCX | LOOKS | START | ASKED)
with open('pgroup/mpi/regroup-mpi.map') as f:
    always, with_mpich = f.read().split('/* Windows:')
wrapped = set(re.findall(r'\b(?:P?MPI[IX]?|ucp)_\w+(?=;)', always + with_mpich))
if platform.machine() in ('x86_64', 'aarch64'):  # pgroup/mpi/fault/fault_profiled.c
    wrapped |= {'P' + name for name in wrapped if re.match('MPIX?_', name)}
if os.path.basename(os.environ['RGT_BUILD']).endswith('openmpi'):
    wrapped = {name for name in wrapped if name in always + with_mpich}
    wrapped = wrapped - set(re.findall(r'\w+', with_mpich)) | LOOKS
    wrapped = {name for name in wrapped if not name.endswith('_c')}
fortran = {name.lower() + end for name in wrapped if name.startswith('MPIX_Comm_') for end in ('_', '_f08_')}
compare('libregroup-mpi.so', ['include/regroup/polite.h'], UCX | wrapped | fortran | ASKED)

# What the arrays and linear algebra take from libregroup is there: rg_... without a version, rgi_... with that of this
# release, and no rgi_... that they do not take.
text = ''.join(subprocess.run(['nm', '-D', '--undefined-only', LIB + name], check=True, capture_output=True,
                              text=True).stdout for name in ['libregroup-arrays.so', 'libregroup-linalg.so'])
assert not re.search(r'\bARMCI', text), text  # closed: an interpreter can open it
used = {line.split()[-1].replace('@', '@@') for line in text.splitlines()
        if re.search(r'\brgi?_', line)}
have = exported(LIB + 'libregroup.so')
used -= exported(LIB + 'libregroup-arrays.so')
assert used and used <= have, used - have
private = {name for name in used if name.startswith('rgi_')}
assert private and all(name.endswith(PRIVATE) for name in private), private
assert private == {name for name in have if name.startswith('rgi_')}, private ^ have

needed = subprocess.run(['readelf', '-d', LIB + 'libregroup-polite.so'], check=True,
                        capture_output=True, text=True).stdout
assert not re.search(r'NEEDED.*lib(mpi|mpich|ucp|ucs|uct)\b', needed), needed

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-bench rma: every operation by every contender, targets that compute, its files, and wrong
options.

time: 120
beside: yes
"""
import os
import sys

from bench import BUILD, MPIEXEC, bench, check, main, near, refused, result, skip_sanitized

SHORT = ['--reps', '2', '--time-limit', '1']
DENSE = ['put', 'get', 'accumulate', 'replace', 'read']
SUBARRAYS = [name + '_subarray' for name in DENSE] + ['put_new_types', 'replace_new_types']
ELEMENTS = ['fetch_and_op', 'compare_and_swap']
FLUSHES = ['flush', 'flush_all', 'flush_local', 'flush_local_all']
MADE = ['alloc_mem', 'create', 'allocate']
skip_sanitized()
if 'openmpi' in MPIEXEC[0]:
    refused(2, ['rma'], 'libregroup-mpi.so')
    print('Open MPI serves its windows itself')
    sys.exit(77)


def check_rows(found, np, operations, sizes):
    wanted = []
    for operation in operations:
        bytes = (sizes if operation in DENSE else [64 * 64 * 8] if operation in SUBARRAYS else
                 [8] if operation in ELEMENTS else [0])
        stores = ['MPI', 'regroup-mpi'] + ['memory'] * (operation not in FLUSHES + MADE)
        wanted += [(operation, np, n, store) for n in bytes for store in stores]
    there = [(r['operation'], r['ranks'], r['bytes'], r['contender']) for r in found['results']]
    check(there == wanted, there, 'instead of', wanted)
    for r in found['results']:
        check(0 < r['min'] <= r['median'] <= r['max'], r)


def test_all():
    for np in [2, 3]:
        found, out = result(np, 'rma', '--sizes', '8,6000', *SHORT)
        check_rows(found, np, DENSE + SUBARRAYS + ELEMENTS + FLUSHES + MADE, [8, 6000])
        check(found['verified'] is True and found['busy_ms'] == 0 and 'MB/s' in out, found)
        check('\nput_subarray on %d ranks\n' % np in out, out)


def test_busy():
    """MPI's access waits for its target, which the library's does not."""
    found, _ = result(2, 'rma', '--busy', '200', '--operation', 'accumulate,fetch_and_op',
                      '--sizes', '8', *SHORT)
    check_rows(found, 2, ['accumulate', 'fetch_and_op'], [8])
    check(found['busy_ms'] == 200, found)


def test_ranks():
    found, _ = result(4, 'rma', '--ranks', '2,4', '--operation', 'get', '--sizes', '64', *SHORT)
    check([r['ranks'] for r in found['results']] == [2] * 3 + [4] * 3, found['results'])


def test_preloaded():
    """A variable of the user's stays."""
    polite = os.path.join(BUILD, 'lib/libregroup-polite.so')
    found, _ = result(2, 'rma', '--operation', 'put', '--sizes', '8', *SHORT,
                      LD_PRELOAD=os.path.abspath(polite))
    check_rows(found, 2, ['put'], [8])


def test_wrong():
    for args, words in [(['--operation', 'fetch'], 'fetch_and_op'), (['--sizes', '8,12'], 'multiple'),
                        (['--busy', '-1'], '--busy'),
                        (['--busy', '5', '--operation', 'create'], 'by all ranks')]:
        refused(2, ['rma', *args], words)
    refused(1, ['rma'], 'at least 2 ranks')
    status, _, err = bench(2, 'rma', BENCH_PRELOADED='1')
    check(status == 2 and 'libregroup-mpi.so' in err, status, err)


main(globals())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A wrong call of Global Arrays' interface ends the job, with a text that names the call, the array, and
what was wrong.

tier: default
beside: yes
"""
import fortran

TEXTS = {
    'early': 'GA_Initialize: MPI_Init comes before it',
    'uninitialised': 'GA_Sync: GA_Initialize has not been called',
    'bounds': 'NGA_Put: array "wrong" (-1000): dimension 0: the patch ends before index 11, but the bound is 10',
    'leading': 'NGA_Acc: array "wrong" (-1000): ld[0] is 3',
    'handle': 'GA_Zero: there is no array -1001',
    'freed': 'GA_Destroy: there is no array -1000',
    'type': 'GA_Set_data: array "wrong" (-1001): there is no type 77',
    'dimensions': 'GA_Set_data: array "wrong" (-1001): ndim is 8; there may be 1 to 7',
    'group': 'GA_Pgroup_sync: there is no group 5',
    'operation': 'GA_Igop: op is "xor"',
    'unallocated': 'GA_Zero: array "" (-1001): it is not allocated',
    'mutex': 'GA_Lock: ',
    'shapes': 'GA_Copy: array "wrong" (-1000): ',
    'process': 'NGA_Distribution: array "wrong" (-1000): there is no process or block 99',
    'own': "the program's own text: 7"}


with fortran.folder() as work:
    program = work + '/wrong_calls'
    fortran.build(program, ['tests/ga/wrong_calls.c'], 8, fortran.shared(8))
    status, text = fortran.output(program, 2, 'right')
    assert status == 0 and text.count('went on') == 2, (status, text)
    for case, want in TEXTS.items():
        status, text = fortran.output(program, 2, case)
        assert status != 0 and 'went on' not in text and want in text, (case, status, text)

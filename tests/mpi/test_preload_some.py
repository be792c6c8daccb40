#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-mpi.so in some of the processes only: those that have it say which one has not, all
calls are MPI's, and the program ends with the right results.

time: 60
beside: yes
"""
import re

from preload import LIBRARY, OPENMPI, POLITE, run, skip, skip_sanitized, under

skip_sanitized()
if OPENMPI:
    skip('this needs the key space of hydra')

WANT = run(7, under(POLITE, 'tests/plain_tool'))[0]

for have in ['0111111', '1000000', '1101111', '0010100', '1111110']:
    words, said_by = [], re.compile('warning: rank ([0-9]) of MPI_COMM_WORLD runs without')
    for i, has in enumerate(have):
        words += [':', '-n', '1'] * (i > 0) + under(LIBRARY if has == '1' else POLITE,
                                                    'tests/plain_tool', RG_MPI_REPORT='1')
    text, said = run(1, words)
    named = said_by.findall(said)
    assert text == WANT and named and all(have[int(n)] == '0' for n in named), (have, text, said)
    assert 'calls on windows' not in said and 'allreduce' not in said, (have, said)

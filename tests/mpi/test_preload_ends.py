#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""How served windows and MPI_Alloc_mem's memory begin and end: plain_window_ends.c says what is tried.

time: 60
beside: yes
"""
from preload import LIBRARY, POLITE, run, run_tests, skip_openmpi, skip_sanitized, under

skip_sanitized()
skip_openmpi()


def call(part, np, fails=False, library=LIBRARY):
    return run(np, under(library, 'tests/plain_window_ends', part), fails=fails)


def row(name, value, np):
    return '%s%s\n' % (name, np * (' %d' % value))


for size in [1, 2, 3, 4, 7] if run_tests.FULL else [1, 3]:
    text, said = call('finalize', size)
    assert text == size * 'exit 1\n' and not said, (size, text, said)
    for part in ['handles', 'comms']:
        text, said = call(part, size)
        assert text == call(part, size, library=POLITE)[0], (size, text, said)
        assert text.endswith(row('wrong', 0, size)) and 'deleted' in text, (size, text, said)
    for part in ['wishes', 'progress']:
        text, said = call(part, size)
        assert text == row('wrong', 0, size) and not said, (size, part, text, said)
text, said = call('shortage', 1, fails=True)
assert 'regroup: the node has no memory left for a page of a window' in said, (text, said)
_, said = call('fatal', 2, fails=True)
assert ('fatal error in MPI_Put(target rank 1, displacement 3, count 1, MPI_DOUBLE), where it has 8 bytes in units'
        ' of 4, on window "temperature"') in said and 'regroup: rank ' in said, said

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""With libregroup-mpi.so a put that has been flushed comes before the get that follows it. See
plain_window_order.c: without a fence some of its rounds are lost where two processors are free.

time: 60
beside: yes
"""
from preload import LIBRARY, run, skip_openmpi, skip_sanitized, under

skip_sanitized()
skip_openmpi()

for flush in '0', '1', '0', '1':
    text, said = run(2, under(LIBRARY, 'tests/plain_window_order', flush))
    assert text == 'lost 0 0\n', (flush, text, said)

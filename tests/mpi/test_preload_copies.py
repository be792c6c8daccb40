#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A program that is linked with the shared libregroup, with a preloaded library: of the two copies of
the polite module one alone pauses in MPI's waits, the one that MPI finds first.

time: 60
beside: yes
"""
import os
import tempfile

from preload import BUILD, HERE, LIBRARY, POLITE, mpicc, run, skip_openmpi, skip_sanitized

skip_sanitized()
skip_openmpi()
OWN = BUILD + '/lib/libregroup.so'

with tempfile.TemporaryDirectory() as folder:
    program = folder + '/polite_copies'
    mpicc('%s/polite_copies.c' % HERE, '-o', program, '-Iinclude', '-L%s/lib' % BUILD, '-lregroup',
          '-Wl,-rpath,%s/lib' % BUILD)
    for preloaded in ['', LIBRARY, POLITE]:
        for np in [2, 4]:
            libraries = [os.path.realpath(name) for name in [preloaded, OWN] if name]
            text, _ = run(np, ['env', 'LD_PRELOAD=' + preloaded, program, *libraries])
            counts = [int(word) for word in text.split()]
            assert counts[0] > 0 and counts[1:] == [0] * bool(preloaded), (preloaded, np, counts)

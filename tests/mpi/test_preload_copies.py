#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A program that is linked with libregroup, with a preloaded library: of the two copies of the polite
module one alone pauses in MPI's waits, the one that MPI finds first; and it does not pause where a wait
of the other library looks for MPI's messages, since that wait pauses itself.

time: 60
beside: yes
"""
import os
import tempfile

from preload import (BUILD, HERE, LIBRARY, POLITE, mpicc, over_libfabric, run, skip, skip_openmpi,
                     skip_sanitized)

skip_sanitized()
skip_openmpi()
if over_libfabric():
    skip('over libfabric waits do not pause where each rank has a processor')
OWN = BUILD + '/lib/libregroup.so'

with tempfile.TemporaryDirectory() as folder:
    program, static = folder + '/polite_copies', folder + '/polite_copies_static'
    words = ['%s/polite_copies.c' % HERE, '-Iinclude', '-L%s/lib' % BUILD]
    mpicc(*words, '-o', program, '-lregroup', '-Wl,-rpath,%s/lib' % BUILD)
    mpicc(*words, '-o', static, '-l:libregroup.a', '-lhwloc', '-lsodium', '-ldl', '-lm', '-lpthread')
    for preloaded in ['', LIBRARY, POLITE]:
        for np in [2, 4]:
            libraries = [os.path.realpath(name) for name in [preloaded, OWN] if name]
            text, _ = run(np, ['env', 'LD_PRELOAD=' + preloaded, program, *libraries])
            counts = [int(word) for word in text.split()]
            inside = counts.pop()
            assert counts[0] > 0 and counts[1:] == [0] * bool(preloaded), (preloaded, np, counts)
            assert (inside == 0) == (preloaded == LIBRARY), (preloaded, np, inside)
    for np in [2, 4]:
        text, _ = run(np, ['env', 'LD_PRELOAD=' + LIBRARY, static])
        assert text.split() == ['0'], (np, text)

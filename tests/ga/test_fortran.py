#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Global Arrays from Fortran: each family of calls, by a program whose integers have 8 bytes and one whose
integers have 4; and the indices of local memory where the common blocks lie in a program at a fixed
address, in one that is position-independent, in a static one, and in a shared library.

tier: default
time: 120
beside: yes
"""
import os
import sys

import fortran

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = HERE + '/fortran_calls.F90'
MORE = os.environ.get('RGT_TIER') != 'quick'

programs = {
    'integers of 8 bytes': ([], fortran.shared(8), [1, 2, 3, 4, 7]),
    'integers of 4 bytes': ([], fortran.shared(4), [1, 3, 4]),
    'at a fixed address': (['-no-pie'], fortran.shared(8), [2]),
    'static library': ([], fortran.static(8), [2]),
    'static library at a fixed address': (['-no-pie'], fortran.static(4), [2]),
}
failures = 0
with fortran.folder() as folder:
    for i, (name, (flags, libraries, sizes)) in enumerate(programs.items()):
        program = '%s/calls%d' % (folder, i)
        fortran.build(program, [SOURCE], 4 if libraries in (fortran.shared(4), fortran.static(4)) else 8,
                      flags + libraries)
        failures += sum(not fortran.succeeds(name, program, np) for np in sizes)
    # The Fortran part as a shared library: its program has nothing but the call of main.
    fortran.build(folder + '/libcalls.so', [SOURCE], 8, ['-shared', '-fPIC', *fortran.shared(8)])
    fortran.link_main(folder + '/main', folder, 'calls')
    failures += not fortran.succeeds('in a shared library', folder + '/main', 2)
sys.exit(bool(failures))

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Preloaded into a program that opens a module with MPI for itself alone (RTLD_LOCAL), as Python does,
the libraries find MPI and its transport there.

tier: quick
beside: yes
"""
import subprocess
import tempfile

import preload

preload.skip_sanitized()
with tempfile.TemporaryDirectory() as folder:
    module, program = folder + '/module.so', folder + '/opener'
    preload.mpicc('-shared', '-fPIC', preload.HERE + '/opened_module.c', '-o', module)
    subprocess.run(['gcc', preload.HERE + '/opener.c', '-o', program, '-ldl'], check=True)
    for library in preload.POLITE, preload.LIBRARY:
        for own in [], ['own']:
            for np in 1, 2, 3:
                out = preload.run(np, preload.under(library, program, module, *own))[0]
                assert out == 'sum %d\n' % (np * (np - 1) // 2), (library, own, np, out)

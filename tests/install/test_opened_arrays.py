#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A program without MPI opens a module that uses arrays for itself alone (RTLD_NOW, RTLD_LOCAL), as Python
does: libregroup-arrays.so brings all that it needs, also between nodes.

beside: yes
time: 60
"""
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'mpi'))
import preload  # noqa: E402

LIBRARIES = preload.BUILD + '/lib'
MODULE = '''#define main client_main
#include "tests/install/client_arrays.c"
#undef main
int run(void *unused);
int run(void *unused) {
  char name[] = "client", *argv[] = {name, NULL};
  (void)unused;
  return client_main(1, argv);
}
'''

preload.skip_sanitized()
preload.skip_openmpi()
with tempfile.TemporaryDirectory() as folder:
    module, program = folder + '/module.so', folder + '/opener'
    with open(folder + '/module.c', 'w') as f:
        f.write(MODULE)
    preload.mpicc('-shared', '-fPIC', '-I.', '-Iinclude', folder + '/module.c', '-o', module, '-L' + LIBRARIES,
                  '-lregroup-arrays', '-lregroup', '-Wl,-rpath,' + LIBRARIES)
    subprocess.run(['gcc', preload.HERE + '/opener.c', '-o', program, '-ldl'], check=True)
    for np in 1, 2, 3:
        out = preload.run(np, [program, module])[0]
        assert out.startswith('size %d ' % np), (np, out)
    try:
        with preload.cluster.Nodes(2) as nodes:
            out = preload.run_on(nodes, (4, 2), [program, module])[0]
            assert out.startswith('size 4 '), out
    except preload.cluster.Unavailable as why:
        preload.skip('between nodes: %s' % why)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""test_linalg, test_linalg_nodes and memory_linalg with ScaLAPACK: Debian's package for MPICH,
unpacked and not installed. In a job that survives LAPACK computes on one process. Skipped where the package cannot be
had; RGT_PROGRAMS names a folder that keeps it.

tier: default
time: 300
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'profiling', 'programs'))
import packages

BUILD = os.environ['RGT_BUILD']
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()
FETCHING = 60


def run(np, program, env):
    done = subprocess.run([*MPIEXEC, '-n', str(np), '%s/tests/%s' % (BUILD, program)], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, (np, program, done.stdout[-3000:])


def main(store):
    store.packages('libscalapack-mpich2.2')
    env = dict(os.environ, RG_TIMEOUT='60', RG_SCALAPACK=store.lib + '/libscalapack-mpich.so.2.2')
    for np in [2, 3, 4, 7] if os.environ.get('RGT_TIER') == 'all' else [2, 4]:
        run(np, 'test_linalg', env)
    run(4, 'test_linalg_nodes', dict(env, MPIR_CVAR_NUM_CLIQUES='2'))
    run(3, 'memory_linalg', env)


if os.path.basename(BUILD) not in ('release', 'debug', 'coverage') or 'openmpi' in MPIEXEC[0]:
    print("the package is for MPICH, and not linked with a sanitizer")
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    try:
        main(packages.Store(os.environ.get('RGT_PROGRAMS') or scratch, FETCHING))
    except packages.Missing as e:
        print(e)
        sys.exit(77)

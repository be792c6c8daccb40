#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""How many functions of the library a put to another node enters before MPI's one-sided call, or
before the socket takes its query: at most 15, nothing inlined.

Compiles the rooms on the way once more, with -finstrument-functions. put_walk.c counts.

tier: all
time: 180
"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get('RGT_BUILD', 'build')
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()
MOST = 15
# All rooms that a put may enter. The others come from the built library.
ROOMS = ['pgroup/' + room for room in ['base', 'shm', 'progress', 'access', 'noded/*',
                                       'runtime', 'message']]
ROOMS += ['arrays/' + room for room in ['distribution', 'engine', 'object', 'onesided']]
FLAGS = '-std=c11 -D_GNU_SOURCE -O0 -fno-inline -pthread -Iinclude -Ipgroup -Iarrays -I.'.split()
LIBRARIES = '-Wl,--as-needed -larmci-mpich -lopenblas -lhwloc -lsodium -ldl -lm'.split()


def mpicc(*words):
    compiler = shutil.which('mpicc.mpich') or 'mpicc'
    subprocess.run([compiler, *FLAGS, *words], cwd=ROOT, check=True)


def build(folder):
    """The program that counts, in this folder."""
    sources = [f for room in ROOMS for f in sorted(glob.glob(room + '/*.c', root_dir=ROOT))]
    objects = [os.path.join(folder, f.replace('/', '_') + '.o') for f in sources]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(lambda f, o: mpicc('-finstrument-functions', '-c', f, '-o', o),
                         sources, objects))
    program = os.path.join(folder, 'put_walk')
    archives = [os.path.join(BUILD, 'lib', 'lib%s.a' % a) for a in ['regroup-arrays', 'regroup']]
    mpicc('-no-pie', 'tests/arrays/put_walk.c', *objects, *archives, *LIBRARIES, '-o', program)
    return program


def names_of(program):
    text = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in text.splitlines()]
    return {int(w[0], 16): w[2] for w in words if len(w) == 3 and w[1] in 'tT'}


def check_walks(program, names, end, **env):
    """Two ranks on two pretended nodes. Each walk ends in the call that it should end in."""
    run = subprocess.run(MPIEXEC + ['-n', '2', program], capture_output=True, text=True,
                         env=dict(os.environ, MPIR_CVAR_NUM_CLIQUES='2', **env))
    assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
    walks = [line.split() for line in run.stdout.splitlines()]
    assert [w[0] for w in walks] == ['line', 'rows', 'patch', 'ld'], run.stdout
    for name, found, depth, *addresses in walks:
        entered = [names[int(a, 16)] for a in addresses]
        different = list(dict.fromkeys(entered))
        print('%-6s %-5s %2d functions in %2d calls, %s deep: %s' %
              (found, name, len(different), len(entered), depth, ' '.join(different)))
        assert found == end, (name, found)
        assert entered[0] == 'rg_array_put'
        assert len(different) <= MOST or name == 'ld', (name, len(different))


if 'openmpi' in ' '.join(MPIEXEC) or 'asan' in BUILD:
    print('only for MPICH, without a sanitizer')
    sys.exit(77)
with tempfile.TemporaryDirectory() as place:
    walker = build(place)
    functions = names_of(walker)
    check_walks(walker, functions, 'MPI')
    check_walks(walker, functions, 'socket', RG_SURVIVE='1')

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Three programs on Global Arrays, in C and in Fortran: a Fock matrix, Jacobi's iteration, a product of
blocks on two groups. Their results have closed forms. With --all they also run linked with Global Arrays
itself, where its package is installed or has been unpacked by tests/profiling/programs/run.py in the folder
that RGT_PROGRAMS names (BUILD/programs), and print the same.

tier: default
time: 240
beside: yes
"""
import glob
import os
import sys

import fortran

HERE = os.path.dirname(os.path.abspath(__file__)) + '/programs/'
SIZES = [1, 2, 3, 4, 7]
N = 24


def expected(program, np):
    if program == 'fock':  # the squares of n twos and of 2 (n - 1) ones
        return 'square %d.000000 norm 32.000000' % (4 * 32 + 2 * 31)
    if program == 'jacobi':  # the largest value inside, at i = j = 12
        return 'error 36.000'
    return 'sum %d.0 wrong 0' % (N * (N * (N + 1) // 2) ** 2 * (1 if np == 1 else 3))


def theirs():
    """How programs are compiled and run with Global Arrays itself; nothing if it is not there."""
    roots = [os.environ.get('RGT_PROGRAMS', fortran.BUILD + '/programs') + '/root', '']
    for root in roots:
        for library in glob.glob(root + '/usr/lib/*/libga-mpich.a'):
            folder = os.path.dirname(library)
            scalapack = glob.glob(folder + '/libscalapack-mpich.so*')
            if scalapack and os.path.exists(root + '/usr/include/ga.h'):
                return ['-I%s/usr/include' % root], [library, scalapack[0], '-larmci-mpich', '-llapack', '-lblas',
                        '-lgfortran', '-lpthread', '-lm', '-Wl,-rpath,' + folder]
    return None


def build(program, source, size, ga=None):
    if ga:
        fortran.compiled([fortran.C if source.endswith('.c') else fortran.FORTRAN, *ga[0], *(
            ['-cpp', '-fdefault-integer-8'] if source.endswith('.F') else []), source, '-o', program, *ga[1]])
    else:
        fortran.build(program, [source], size, [*fortran.shared(size), '-lm'])


failures, lines = [], {}
with fortran.folder() as folder:
    ga = theirs() if os.environ.get('RGT_TIER') == 'all' else None
    for name in ['fock', 'jacobi', 'product']:
        kinds = [('.c', 8, None)] + [('.F', 8, None), ('.F', 4, None)] * bool(fortran.FORTRAN)
        kinds += [('.c', 8, ga), ('.F', 8, ga)] * bool(ga)
        for i, (ending, size, other) in enumerate(kinds):
            program = '%s/%s%d' % (folder, name, i)
            build(program, HERE + name + ending, size, other)
            for np in SIZES if size == 8 else [3]:
                code, text = fortran.output(program, np, OPENBLAS_NUM_THREADS='1',
                                            **({'ARMCI_USE_WIN_ALLOCATE': '0'} if other else {}))
                text = text.strip()
                if name == 'fock' and 'cannot be loaded' in text:
                    continue  # there is no LAPACK
                known = lines.setdefault((name, np), text)
                right = text.startswith(expected(name, np)) and text.endswith(' right')
                if code or not right or text != known:
                    failures.append('%s%s, integers of %d bytes, %d processes%s: status %d\n%s' % (
                        name, ending, size, np, ', Global Arrays itself' * bool(other), code, text))
    if os.environ.get('RGT_TIER') == 'all':
        print('compared with Global Arrays' if ga else 'not compared: Global Arrays is not there')
print(*failures, sep='\n')
sys.exit(bool(failures))

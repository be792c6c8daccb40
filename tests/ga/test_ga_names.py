#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-ga has all of Global Arrays' names in C, and no others; ga.h compiles alone, as C and as C++.

tier: quick
"""
import glob
import os
import re
import subprocess
import sys

BUILD = os.environ['RGT_BUILD']


def call(*command, text=None):
    done = subprocess.run(command, input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, '%s\n%s' % (' '.join(command), done.stdout)
    return done.stdout


with open('tests/ga/c_names.txt') as f:
    want = set(re.findall(r'\b\w+', ''.join(line for line in f if not line.startswith('#'))))
shared = glob.glob(BUILD + '/lib/libregroup-ga.so')
if not shared:
    print('libregroup-ga is not built')
    sys.exit(77)
symbols = {line.split()[-1] for line in call('nm', '-D', '--defined-only', shared[0]).splitlines()}
have = {name for name in symbols if re.match(r'N?GA_', name)}
assert have == want, 'missing: %s; not in the list: %s' % (sorted(want - have), sorted(have - want))
assert {'rg_ga_array', 'rg_ga_recover', 'rg_ga_failure', 'rg_ga_keep_failures'} <= symbols
assert not any(name.startswith('rgi_') for name in symbols), symbols

flags = [w for w in call('mpicc.mpich', '-show').split() if w.startswith('-I')] + ['-I%s/ga' % BUILD, '-Iinclude/regroup-ga']
for header in ['ga.h', 'ga-mpi.h', 'gacommon.h', 'typesf2c.h', 'macommon.h']:
    for language, standard in [('c', '-std=c11'), ('c++', '-std=c++11')]:
        call('gcc', standard, '-x', language, '-Wall', '-Werror', '-fsyntax-only', *flags, '-',
             text='#include <%s>\n' % header)

# Each name is declared as it is defined: a program that names them all can be linked.
program = '#include <ga.h>\n#include <ga-mpi.h>\nvoid (*all[])(void) = {%s};\nint main(void) { return !all[0]; }\n' % (
    ', '.join('(void (*)(void))' + name for name in sorted(want)))
libraries = [shared[0], *(BUILD + '/lib/libregroup%s.so' % e for e in ['-linalg', '-arrays', ''])]
call('gcc', '-x', 'c', '-', '-x', 'none', *flags, '-o', os.path.join(os.environ['TMPDIR'], 'all-names'), *libraries,
     '-Wl,-rpath,' + os.path.abspath(BUILD + '/lib'), text=program)

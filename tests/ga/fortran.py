# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Programs of Global Arrays in Fortran and C, linked with this library."""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT + '/tests')
import run_tests  # noqa: E402

BUILD = os.path.abspath(os.environ.get('RGT_BUILD', ROOT + '/build/release'))
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()
FORTRAN, C = (next((w for w in words if shutil.which(w)), None)
              for words in [('mpifort.mpich', 'mpifort'), ('mpicc.mpich', 'mpicc')])
INCLUDE = ['-I%s/ga' % BUILD, '-I%s/include/regroup-ga' % ROOT]
LIBRARIES = ['regroup-linalg', 'regroup-arrays', 'regroup']


def skip(reason):
    print(reason)
    sys.exit(77)


# The sanitizers must be in a program from the start.
if not os.path.exists(BUILD + '/lib/libregroup-ga.so') or any(w in os.path.basename(BUILD) for w in ['asan', 'tsan', 'openmpi']):
    skip('%s has no libregroup-ga for programs of other compilers' % BUILD)
COVERAGE = ['--coverage'] * ('coverage' in os.path.basename(BUILD))


def folder():
    return tempfile.TemporaryDirectory(prefix='rgt_ga_')


def name_of(size):
    return 'regroup-ga' if size == 8 else 'regroup-ga-i4'


def shared(size):
    """Links with the shared libraries, for integers of so many bytes."""
    lib = BUILD + '/lib'
    return ['-L' + lib, '-Wl,--disable-new-dtags,-rpath,' + lib, '-l' + name_of(size), *('-l' + n for n in LIBRARIES)]


def static(size):
    return [*('%s/lib/lib%s.a' % (BUILD, n) for n in [name_of(size), *LIBRARIES]), '-Wl,-u,rg_polite_active', '-larmci-mpich',
            '-lopenblas', '-lhwloc', '-lsodium', '-lpthread', '-ldl', '-lm', *COVERAGE]


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', **more)
    return done.returncode, done.stdout


def compiled(command):
    code, text = run(command)
    if code:
        print(' '.join(command), text, sep='\n')
        sys.exit(1)


def build(program, sources, size, more):
    """A program of Fortran sources, or of C's."""
    if sources[0].endswith('.c'):
        compiled([C, '-O1', *INCLUDE, *sources, '-o', program, *more])
        return
    if not FORTRAN or run([FORTRAN, '-fsyntax-only', '-x', 'f95', os.devnull])[0]:
        skip('there is no Fortran compiler for this MPI')
    kind = ['-fdefault-integer-8'] if size == 8 else []
    compiled([FORTRAN, '-cpp', '-O1', *kind, '-J', os.path.dirname(program), *INCLUDE, *sources, '-o', program, *more])


def link_main(program, where, library):
    """A program whose main function is in a shared library."""
    compiled([C, '-o', program, '-Wl,--no-as-needed,--disable-new-dtags,-rpath,%s:%s/lib' % (where, BUILD), '-L' + where,
              '-l' + library, *shared(8)])


def output(program, np, *arguments, limit=60, **env):
    """The exit status and what a job prints."""
    return run(['timeout', str(run_tests.limit(limit)), *MPIEXEC, '-n', str(np), program, *arguments],
               env=dict(os.environ, **env))


def succeeds(name, program, np):
    """Whether the program ends well and says so."""
    code, text = output(program, np)
    right = code == 0 and text.split() == ['ok']
    if not right:
        print('%s, %d processes: status %d\n%s' % (name, np, code, text))
    return right

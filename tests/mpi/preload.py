# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What the tests of libregroup-mpi.so share: programs that are run with a preloaded library, on this
machine or on pretended nodes, and the reports."""
import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'cluster'), os.path.join(HERE, '..')]
import cluster  # noqa: E402,F401
import run_tests  # noqa: E402

BUILD = os.path.abspath(os.environ['RGT_BUILD'])
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
OPENMPI = 'openmpi' in MPIEXEC[0]
LIBRARY = BUILD + '/lib/libregroup-mpi.so'
POLITE = BUILD + '/lib/libregroup-polite.so'  # without it MPI alone takes minutes
SEED = os.environ.get('RGT_SEED') or str(random.randrange(1 << 31))


def skip(why):
    print(why)
    sys.exit(77)


def skip_sanitized(kind='san'):
    """kind: a part of the build's name."""
    if kind in os.path.basename(BUILD):
        skip('a program would have to be linked with the sanitizer')


def skip_openmpi():
    if OPENMPI:
        skip('Open MPI serves its windows itself')


def mpicc(*words):
    compiler = shutil.which('mpicc.' + MPIEXEC[0].split('.')[-1]) or shutil.which('mpicc')
    if not compiler:
        skip('no compiler for this MPI')
    subprocess.run([compiler, *words], check=True)


def make_tool(folder, name='pmpi_tool'):
    """A tool on MPI's profiling interface, of this folder's source: the path of the library."""
    library = '%s/lib%s.so' % (folder, name)
    mpicc('-shared', '-fPIC', '%s/%s.c' % (HERE, name), '-o', library)
    return library


def over_libfabric():
    return 'ch4:ofi' in run_tests.launcher_text()


# --- running --------------------------------------------------------------------------------


def under(libraries, program, *arguments, **variables):
    """The words of a rank's command. program: of what was built, or a path; the variables are the
    ranks' alone."""
    given = ['%s=%s' % pair for pair in {'LD_PRELOAD': libraries, **variables}.items()]
    return ['env', *given, os.path.join(BUILD, program), *arguments]


def run(np, words, fails=False):
    """Standard output and standard error; np 0: one process without mpiexec."""
    launcher = [*MPIEXEC, '-n', str(np)] if np else []
    done = subprocess.run([*launcher, *words], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, (np, words, done)
    return done.stdout, done.stderr


def run_on(nodes, shape, words):
    """The output of a run on pretended nodes. shape: ranks, the most on a node, their placement."""
    process = nodes.start([*nodes.mpiexec(*shape), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    text, said = process.communicate()
    assert process.returncode == 0, (shape, words, process.returncode, text, said)
    return text, said


# --- reports --------------------------------------------------------------------------------


def report(said):
    """{operation: [served, not chosen, other comm, other case]}"""
    rows = re.findall(r'^regroup-mpi: (\w+) +(\d+) +(\d+) +(\d+) +(\d+)$', said, re.M)
    return {row[0]: [int(n) for n in row[1:]] for row in rows}


def window_report(said):
    """{call: (served, passed on)}"""
    return {name: (int(a), int(b))
            for name, a, b in re.findall(r'^regroup-mpi:   (\w+) +(\d+) +(\d+)$', said, re.M)}


def counted(text):
    """What a program says that it called: {operation: (on one group, on two)}, or {call: (to be
    served, to be passed on)}"""
    return {name: (int(a), int(b))
            for name, a, b in re.findall(r'^calls (\w+) (\d+) (\d+)$', text, re.M)}

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Global Arrays' own test programs, from its source, linked with Debian's library for MPICH."""
import concurrent.futures
import os
import re
import subprocess

import jobs
import packages

# The settings of ARMCI: windows by MPI_Win_allocate, or by MPI_Win_create.
SETTINGS = {'default': {}, 'create': {'ARMCI_USE_WIN_ALLOCATE': '0'}}
# What a program of GA prints when it finds something wrong.
WRONG = re.compile(r'(?<!no )(?<!0 )\berrors?\b(?! *(checking|code|messages?))|\bmismatch|\bfailed\b|'
                   r'\bfailure\b|\bnot ok\b|\bincorrect\b|MPI_ABORT|Received an Error', re.I)
# What GA's configure finds out: of a header config.h that the package has not got.
DEFINES = ['-DHAVE_%s_H=1' % h for h in 'ASSERT ERRNO MATH STDIO STDLIB STRING SYS_TYPES UNISTD'.split()]
DEFINES += ['-DHAVE_BLAS=1', '-DHAVE_SCALAPACK=1', '-DSIZEOF_F77_INTEGER=8', '-DF77_FUNC_(a,b)=a##_',
            '-DF77_FUNC(a,b)=a##_', '-DENABLE_FORTRAN=1', '-DF77_FLUSH=flush',
            '-DLAPACK_DGETRF=dgetrf_', '-DLAPACK_DTRSM=dtrsm_']
FORTRAN = '-w -fdefault-integer-8 -std=legacy -fallow-argument-mismatch'.split()


def listed(makefile):
    """{name: [sources]} of the programs that GA's makefile tests with several processes."""
    with open(makefile) as f:
        text = f.read()
    lists = {'gtsrcf': re.findall(r'^gtsrcf \+= *(\S+)', text, re.M),
             'testblassrc': re.findall(r'^testblassrc *= *(\S+)', text, re.M)}
    names = re.findall(r'^GLOBAL_(?:PARALLEL|THREADED)_TESTS \+= global/testing/([\w-]+)\$', text, re.M)
    found = {}
    for name in dict.fromkeys(names):
        row = re.search(r'^(?:nodist_)?global_testing_%s_SOURCES *= *(.*)$' % name.replace('-', '_'),
                        text, re.M)
        if not row:  # of one source, which automake finds by itself
            found[name] = [name + '.c']
            continue
        words = re.sub(r'\$\((\w+)\)', lambda m: ' '.join(lists.get(m[1], [])), row[1]).split()
        found[name] = [os.path.basename(w) for w in words if w.endswith(('.c', '.F'))]
    return found


class GlobalArrays:
    def __init__(self, store, runner):
        # The mirror may lack the source of a release that is no longer the newest one.
        self.source = store.source('ga', ['trixie'])
        store.packages('libglobalarrays-dev', 'libscalapack-mpich2.2', unless_installed=[
            'libarmci-mpi-dev', 'libopenblas-dev'])
        self.store, self.runner = store, runner
        self.env = store.environment()
        self.folder = self.source + '/global/testing'
        self.tests = listed(self.source + '/Makefile.am')
        self.built = store.folder + '/built/ga/'
        os.makedirs(self.built, exist_ok=True)

    def libraries(self):
        lib = self.store.lib
        armci = [p for p in [lib + '/libarmci-mpich.a', lib.replace(self.store.root, '') +
                             '/libarmci-mpich.a'] if os.path.exists(p)]
        return [lib + '/libga-mpich.a', lib + '/libscalapack-mpich.so.2.2', *armci[:1], '-llapack',
                '-lblas', '-lgfortran', '-lpthread', '-lm']

    def build(self, name):
        """What the compiler says if it cannot be built; else nothing."""
        program = self.built + name
        if os.path.exists(program):
            return ''
        sources = self.tests[name]
        for made in [s for s in sources if not os.path.exists(self.folder + '/' + s)]:
            with open(self.folder + '/' + made, 'w') as f:
                subprocess.run(['m4', '-I.', made[:-2] + '.m4'], cwd=self.folder, stdout=f,
                               stderr=subprocess.DEVNULL)
        fortran = any(s.endswith('.F') for s in sources)
        compiler = ['mpifort.mpich', *FORTRAN] if fortran else ['mpicc.mpich', '-w', '-O1']
        include = [self.store.root + '/usr/include', '.', *('%s/%s' % (self.source, d) for d in [
            'global/src', 'gaf2c', 'ma', 'LinAlg/lapack+blas', 'armci/src/include', 'comex/src-armci'])]
        done = subprocess.run([*compiler, *DEFINES, *('-I' + d for d in include), *sources, '-o', program,
                               *self.libraries()], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout if done.returncode else ''

    def run(self, name, np, way='plain', setting='default', limit=None):
        """In words, what came of it (empty: right), and the job."""
        job = self.runner.run(np, [self.built + name], way, self.built,
                              dict(self.env, **SETTINGS[setting]), limit)
        return job.ended or next(filter(None, map(complaint, job.text.splitlines())), ''), job


def complaint(line):
    """What is wrong by this line of a test, if anything."""
    number = re.search(r'\berror\w* *[:=]+ *([-+]?\d[-+.\deED]*)', line, re.I)
    if number:
        small = abs(float(number[1].upper().replace('D', 'E').rstrip('.') or 0)) < 1e-4
        return '' if small else line.strip()[:60]
    return line.strip()[:60] if WRONG.search(line) else ''


def check(store, runner, a):
    """A table: each test as it is, in the setting that makes plain MPICH right, and with the
    libraries; with libregroup-mpi.so in the default setting."""
    program = GlobalArrays(store, runner)
    names = a.only or list(program.tests)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        said = dict(zip(names, pool.map(program.build, names)))
    print('Global Arrays %s, tests of %s\n' % (store.version('libglobalarrays-dev'),
                                               store.version('ga.source')))
    built = [name for name in names if not said[name]]
    wrong = jobs.compare('ga', built, a, a.np or [1, 2, 4], min(a.limit, 120),
                         lambda name, np, way, limit: program.run(
                             name, np, way, 'default' if way == 'regroup' else 'create', limit))
    for name in [n for n in names if said[n]]:
        print('not built: %s: %s' % (name, (re.findall(r'.*(?:rror|undefined).*', said[name])
                                            or [said[name]])[0]))
    return wrong

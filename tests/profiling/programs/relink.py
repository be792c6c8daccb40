# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Global Arrays' own test programs, from its source, compiled with the headers of libregroup-ga and linked with
it, beside the same programs with Debian's Global Arrays. None of its public headers is read."""
import concurrent.futures
import os
import re
import subprocess

import ga
import jobs

# Headers of Global Arrays' inside, and functions that only its library has.
INTERNAL = re.compile(r'(ga-papi|ga-wapi|globalp|galinalg|xgemm|armci|parmci|comex|sndrcv|cnames|pario|base|ga_iterator)\w*\.h|'
                      r'\b(ARMCI_\w+|armci_\w+|N?GA_Sprs_\w+|nga_sprs_\w+|NGA_Rand|xb_\w+|gai_\w+)')


PUBLIC = re.compile(r'(ga|ga-mpi|gacommon|macdecls|mafdecls|macommon|matypes|typesf2c|global)\.f?h')


class Relinked:
    def __init__(self, original, build):
        self.original, self.build_folder = original, os.path.abspath(build)
        self.built = original.store.folder + '/built/relink/'
        # The helpers of Fortran tests include a header of the inside, but need nothing of it.
        os.makedirs(self.built + 'inside', exist_ok=True)
        open(self.built + 'inside/global.h', 'w').close()
        # A generator of random numbers that Global Arrays' library has beside its interface.
        self.random = self.built + 'inside/random.c'
        with open(self.random, 'w') as f:
            f.write('#include <stdlib.h>\ndouble drand_(long *seed) {\n  if (*seed)\n    srand48(*seed);\n'
                    '  return drand48();\n}\n')
        self.top = jobs.TOP
        lib = self.build_folder + '/lib'
        self.libraries = ['-L' + lib, '-Wl,--disable-new-dtags,-rpath,' + lib, '-lregroup-ga', '-lregroup-linalg',
                          '-lregroup-arrays', '-lregroup', '-llapack', '-lblas', '-lm']
        self.include = ['-I%s/ga' % self.build_folder, '-I%s/include/regroup-ga' % self.top,
                        '-I%sinside' % self.built]

    def command(self, name):
        sources = self.original.tests[name]
        fortran = any(s.endswith('.F') for s in sources)
        compiler = ['mpifort.mpich', *ga.FORTRAN] if fortran else ['mpicc.mpich', '-w', '-O1']
        return [*compiler, *ga.DEFINES, '-DMPI', '-DMSG_COMMS_MPI', '-iquote', '.', *self.include, '-I.'], sources

    def reads_theirs(self, command, sources):
        """A public header of Global Arrays that the compiler has read, if any."""
        for source in sources:
            done = subprocess.run([*command, '-M', source] if source.endswith('.c') else
                                  [*command, '-cpp', '-M', source], cwd=self.original.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for path in done.stdout.replace('\\\n', ' ').split()[1:]:
                theirs = path.startswith(self.original.store.root + '/usr') or '/global/src/' in path or '/ma/' in path
                if theirs or os.path.dirname(path) == '/usr/include' and PUBLIC.fullmatch(os.path.basename(path)):
                    return path
        return ''

    def build(self, name):
        """What the compiler says if it cannot be built; else nothing."""
        command, sources = self.command(name)
        found = self.reads_theirs(command, sources)
        if found:
            return 'error: reads ' + found
        random = [self.random] * any(s.endswith('.F') for s in sources)
        done = subprocess.run([*command, *sources, *random, '-o', self.built + name, *self.libraries],
                              cwd=self.original.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout if done.returncode else ''

    def run(self, name, np, limit, nodes=1):
        env = {'MPIR_CVAR_NUM_CLIQUES': str(nodes)} if nodes > 1 else {}
        job = self.original.runner.run(np, [self.built + name], 'plain', self.built, env, limit)
        return job.ended or next(filter(None, map(ga.complaint, job.text.splitlines())), ''), job


def reason(said):
    inside = INTERNAL.search(said)
    if inside:
        return 'needs the inside of Global Arrays: ' + inside.group(0)
    return (re.findall(r'.*(?:rror|undefined).*', said) or [said])[0][:120]


def compare_one(original, relinked, name, np, limit):
    """The cells of a row, and whether it is worse than Global Arrays itself."""
    theirs, _ = original.run(name, np, setting='create', limit=limit)
    said = [relinked.run(name, np, limit, nodes) for nodes in ([1, 2] if np > 1 else [1])]
    cells = [words or 'right, %.1f s' % job.seconds for words, job in said]
    return [theirs or 'right', *cells, *[''] * (np == 1)], not theirs and any(words for words, _ in said), [j for _, j in said]


def check(store, runner, a):
    original = ga.GlobalArrays(store, runner)
    relinked = Relinked(original, a.build)
    names = [n for n in a.only or original.tests]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        theirs = dict(zip(names, pool.map(original.build, names)))
        ours = dict(zip(names, pool.map(relinked.build, names)))
    print('Global Arrays %s, tests of %s, relinked\n' % (store.version('libglobalarrays-dev'), store.version('ga.source')))
    table = jobs.Table('test', 'ranks', 'Global Arrays', 'libregroup-ga', 'on two nodes')
    for name in [n for n in names if not ours[n]]:
        for np in a.np or [1, 2, 3, 4, 7]:
            if theirs[name]:
                words, job = relinked.run(name, np, min(a.limit, 120))
                table.row(name, np, 'not built', words or 'right, %.1f s' % job.seconds, '')
                continue
            cells, worse, runs = compare_one(original, relinked, name, np, min(a.limit, 120))
            table.row(name, np, *cells)
            table.wrong += worse
            for i, job in enumerate(runs * worse):
                jobs.keep(job, 'relink-%s-%d-%d' % (name, np, i), a)
    for name in [n for n in names if ours[n]]:
        print('not built: %s: %s%s' % (name, reason(ours[name]), '; nor with Global Arrays' * bool(theirs[name])))
    return table.wrong

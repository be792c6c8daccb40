# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A job of MPI in one of three ways: as it is, with libregroup-polite.so, with libregroup-mpi.so;
and a table of what came of it."""
import os
import re
import shutil
import subprocess
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LIBRARY = {'plain': None, 'polite': 'libregroup-polite.so', 'regroup': 'libregroup-mpi.so'}
WAYS = list(LIBRARY)
TIMEOUT = 124, 137  # what `timeout` ends with


class Job:
    """What came of a run: status, seconds, text (both outputs), served and passed (windows)."""

    def __init__(self, status, seconds, text):
        self.status, self.seconds, self.text = status, seconds, text
        row = re.search(r'^regroup-mpi: rma +(\d+) +(\d+) +(\d+) +(\d+)', text, re.M)
        counts = [int(n) for n in row.groups()] if row else [0] * 4
        self.served, self.passed = counts[0], sum(counts[1:])

    @property
    def ended(self):
        """In words, how it ended; nothing where the status is 0."""
        if self.status in TIMEOUT:
            return 'no end in %.0f s' % self.seconds
        return 'status %d' % self.status if self.status else ''


class Runner:
    def __init__(self, build, limit):
        """build: the folder with lib; limit: seconds of one run."""
        self.lib, self.limit = os.path.abspath(build) + '/lib', limit
        words = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()
        self.mpiexec = words if shutil.which(words[0]) else ['mpiexec']

    def run(self, np, command, way='plain', cwd=None, env=(), limit=None, options=()):
        """Runs a command of np ranks; the variables of env are the ranks' alone."""
        given = dict(env)
        if LIBRARY[way]:
            given.update(LD_PRELOAD='%s/%s' % (self.lib, LIBRARY[way]), LD_BIND_NOW='1')
        if way == 'regroup':
            given['RG_MPI_REPORT'] = '1'
        whole = ['timeout', '-k', '10', str(limit or self.limit), *self.mpiexec, '-n', str(np), *options,
                 'env', *('%s=%s' % pair for pair in given.items()), *command]
        start = time.monotonic()
        done = subprocess.run(whole, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return Job(done.returncode, time.monotonic() - start,
                   done.stdout.decode(errors='replace'))


class Table:
    """Rows are printed as they come, as a table of Markdown."""

    def __init__(self, *titles):
        self.wrong = 0
        self.row(*titles)
        self.row(*['---'] * len(titles))

    def row(self, *cells):
        print('| %s |' % ' | '.join(map(str, cells)), flush=True)


def keep(job, name, a):
    """Keeps the output of a run that was wrong."""
    if a.outputs:
        os.makedirs(a.outputs, exist_ok=True)
        with open('%s/%s.txt' % (a.outputs, name), 'w') as f:
            f.write(job.text)


def compare(title, programs, a, ranks, limit, run):
    """A table of programs, each run in every way; returns how many are wrong with the library of
    this project and right without it. run returns words (empty: right) and the job."""
    ways, worse = a.ways or WAYS, []
    table = Table('program', 'ranks', *ways)
    counts = dict.fromkeys(ways, 0)
    for program in programs:
        name = os.path.basename(program)
        for np in ranks:
            said = {}
            for way in ways:
                said[way], job = run(program, np, way, limit)
                counts[way] += not said[way]
                if said[way]:
                    keep(job, '%s-%s-%d-%s' % (title, name, np, way), a)
            table.row(name, np, *(said[way] or 'right' for way in ways))
            if said.get('regroup') and not said.get('plain'):
                worse.append('%s, %d ranks: %s' % (name, np, said['regroup']))
    table.row('right', '', *(counts[way] for way in ways))
    print('\nRight only without the library: %s' % ('\n  '.join(['', *worse]) or 'none'))
    return len(worse)

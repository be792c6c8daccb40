# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""MPICH's own tests (test/mpi of Debian's source package): what passes without the library passes
with it. mpich.txt keeps both outcomes of each run."""
import collections
import os
import re

import jobs
import packages

FOLDERS = ['rma', 'pt2pt', 'coll', 'comm', 'threads', 'attr', 'errhan', 'init', 'info', 'group',
           'topo', 'datatype', 'io']
KEPT = os.path.dirname(os.path.abspath(__file__)) + '/mpich.txt'
COLUMN = {'plain': 0, 'regroup': 1}  # of mpich.txt
TITLE = '# Runs of MPICH\'s tests (folder/program, ranks, words): as they are, with libregroup-mpi.so.\n'


def make(folder, *words):
    """Whether make could make all; it makes what it can."""
    return packages.succeeds('nice', 'make', '-k', *words, cwd=folder)


def build(store, folders):
    """The folder test/mpi, with the programs of these folders in it."""
    top = store.source('mpich') + '/test/mpi'
    if not store.version('mpich.configured'):
        if not packages.succeeds('./configure', '--with-mpi=/usr', '--disable-fortran',
                                 '--disable-cxx', 'MPICC=mpicc.mpich', cwd=top):
            raise packages.Missing('configure of %s failed' % top)
        make(top, '-C', 'dtpools')
        make(top, '-C', 'util')
        store.note('mpich.configured', 'yes')
    for folder in folders:
        if not store.version('mpich.' + folder):
            make(top, '-C', folder)
            store.note('mpich.' + folder, 'made')
    return top


class Run:
    """One line of a testlist."""

    def __init__(self, folder, line):
        self.folder = folder
        self.program, self.ranks, *rest = line.split()
        self.name = ' '.join(['%s/%s' % (folder, self.program), self.ranks, *rest])
        self.words = collections.defaultdict(list)
        for key, _, value in (word.partition('=') for word in rest):
            self.words[key].append(value)

    def launch(self, top, runner, way, limit):
        """pass, fail or time; and the job."""
        limit = max(limit, float(self.words['timeLimit'][0])) if self.words['timeLimit'] else limit
        env = dict(word.split('=', 1) for word in self.words['env'])
        job = runner.run(self.ranks, ['./' + self.program, *self.words['arg']], way,
                         os.path.join(top, self.folder), env, limit,
                         options=self.words['mpiexecarg'])
        if job.status in jobs.TIMEOUT:
            return 'pass' if self.words['resultTest'] else 'time', job
        if self.words['resultTest']:  # it is to end the job itself, or to be ended
            return 'pass' if job.status else 'fail', job
        well = job.status == 0 and re.search(r'^ *No [Ee]rrors', job.text, re.M)
        return 'pass' if well else 'fail', job


def runs_of(top, folder, only, lists):
    """The runs of a folder's lists, and of the folders that they name."""
    for name in lists:
        path = os.path.join(top, folder, name)
        if not os.path.exists(path):
            continue
        with open(path) as f:
            lines = [line.split('#')[0].strip() for line in f]
        for line in filter(None, lines):
            if len(line.split()) == 1:
                yield from runs_of(top, '%s/%s' % (folder, line), only, lists)
            elif not only or line.split()[0] in only:
                yield Run(folder, line)


def read_kept():
    """{name of the run: [outcome as it is, outcome with the library]}"""
    try:
        with open(KEPT) as f:
            rows = [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]
    except OSError:
        return {}
    return {row[2]: row[:2] for row in rows}


def write_kept(kept):
    with open(KEPT + '.new', 'w') as f:
        f.write(TITLE)
        f.writelines('%s\t%s\t%s\n' % (*outcomes, name) for name, outcomes in kept.items())
    os.replace(KEPT + '.new', KEPT)


def outcome(run, top, runner, way, a):
    """A run that has not ended in time has a second try of three times as long."""
    limit = min(a.limit, 60)
    said, job = run.launch(top, runner, way, limit)
    if said == 'time' and way == 'regroup':
        said, job = run.launch(top, runner, way, 3 * limit)
    return said, job


def check(store, runner, a):
    """A table of the runs that passed, then those that pass only without the library."""
    chosen = a.folders or FOLDERS
    top = build(store, [f.split('/')[0] for f in chosen])
    ways = a.ways or ['plain', 'regroup']
    kept, worse = read_kept(), []
    print('MPICH %s, test/mpi\n' % store.version('mpich.source'))
    table = jobs.Table('folder', 'runs', 'pass as they are', 'pass with the library')
    for folder in chosen:
        runs = list(runs_of(top, folder, a.only, ['testlist.dtp'] if a.pools else ['testlist']))
        counts = collections.Counter()
        for run in runs:
            was = kept.setdefault(run.name, ['-', '-'])
            for way in ways:
                said, job = outcome(run, top, runner, way, a)
                if way in COLUMN:
                    was[COLUMN[way]] = said
                if said != 'pass':
                    jobs.keep(job, 'mpich-%s-%s' % (re.sub(r'\W+', '-', run.name), way), a)
            counts.update([('plain', was[0]), ('regroup', was[1])])
            if was[0] == 'pass' and was[1] not in ('pass', '-'):
                worse.append('%s: %s' % (run.name, was[1]))
            if a.keep:
                write_kept(kept)
        table.row(folder, len(runs), counts['plain', 'pass'], counts['regroup', 'pass'])
    print('\nPass only without the library: %s' % ('\n  '.join(['', *worse]) or 'none'))
    return len(worse)


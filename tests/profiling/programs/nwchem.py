# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""NWChem, as Debian's nwchem-mpich brings it. Its energies are compared with those of plain MPICH
on one rank, and its times with each other."""
import os
import re
import shutil
import statistics
import tempfile

import jobs

HERE = os.path.dirname(os.path.abspath(__file__)) + '/nwchem/'
# The input, what it is, and the line with the energy.
CALCULATIONS = {
    'scf': ('Hartree-Fock, water dimer, 6-31G**', 'Total SCF energy ='),
    'dft': ('DFT, water, 6-31G*', 'Total DFT energy ='),
    'mp2': ('MP2, water trimer, 6-31G*', 'Total MP2 energy'),
    'ccsd': ('coupled cluster, water dimer, 6-311++G**', 'Total CCSD(T) energy:'),
}
SETTINGS = {'default': {}, 'create': {'ARMCI_USE_WIN_ALLOCATE': '0'}}
TOLERANCE = 1e-8  # hartree


class NWChem:
    def __init__(self, store, runner):
        store.packages('nwchem-data', 'nwchem-mpich')
        store.packages(*store.needs('nwchem-mpich', 'libscalapack-mpich'), unless_installed=store.needs(
            'nwchem-mpich', 'libpython3', 'libgfortran5', 'libblas3', 'liblapack3'))
        data = store.root + '/usr/share/nwchem/'
        self.env = dict(store.environment(), NWCHEM_BASIS_LIBRARY=data + 'libraries/',
                        NWCHEM_NWPW_LIBRARY=data + 'libraryps/')
        self.program = store.root + '/usr/bin/nwchem.mpich'
        self.version, self.runner = store.version('nwchem-mpich'), runner

    def run(self, name, np, way='plain', setting='default', limit=None):
        """The job, and its energy or None."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(HERE + name + '.nw', folder)
            job = self.runner.run(np, [self.program, name + '.nw'], way, folder,
                                  dict(self.env, **SETTINGS[setting]), limit)
        found = re.findall(r'^ *%s *(-\d+\.\d+)' % re.escape(CALCULATIONS[name][1]), job.text, re.M)
        return job, float(found[-1]) if found and job.status == 0 else None


def judged(job, energy, reference):
    """In words, and whether it is right."""
    if energy is None:
        wrong = re.search(r'allocation|ARMCI|MA |error|assert', job.text, re.I) and 'aborts'
        return job.ended if job.status in jobs.TIMEOUT else wrong or job.ended or 'no energy', False
    if abs(energy - reference) > TOLERANCE:
        return 'differs by %.1e' % (energy - reference), False
    passed = ', %d of %d windows served' % (job.served, job.served + job.passed) if job.passed else ''
    return 'right%s' % passed, True


def plan(a):
    """(setting, ranks, way) of each run. Plain MPICH runs on at most two ranks: with more it takes
    minutes; in the default setting with more than one it is wrong (docs/programs.md)."""
    for setting in SETTINGS:
        for np in a.np or [1, 2, 4, 8]:
            for way in a.ways or jobs.WAYS:
                if way == 'regroup' or setting == 'create' and (np <= 2 or a.ways):
                    yield setting, np, way


def check(store, runner, a):
    """A table of outcomes; how many are wrong."""
    program = NWChem(store, runner)
    print('NWChem %s; energies within %.0e hartree of plain MPICH on one rank\n' % (
        program.version, TOLERANCE))
    table = jobs.Table('calculation', 'ARMCI_USE_WIN_ALLOCATE', 'ranks', 'MPI', 'outcome', 'energy',
                       's')
    for name in a.only or CALCULATIONS:
        first, reference = program.run(name, 1, setting='create')
        if reference is None:
            table.row(name, '0', 1, 'plain', first.ended, '', '%.1f' % first.seconds)
            table.wrong += 1
            continue
        for setting, np, way in plan(a):
            job, energy = program.run(name, np, way, setting)
            said, right = judged(job, energy, reference)
            table.wrong += not right and way != 'plain'
            table.row(name, '0' if setting == 'create' else 'not set', np, way, said,
                      energy or '', '%.1f' % job.seconds)
            if not right and way != 'plain':
                jobs.keep(job, 'nwchem-%s-%s-%d-%s' % (name, setting, np, way), a)
    return table.wrong


# The columns of times: the title, way, setting and ranks.
COLUMNS = [('plain, 1 rank', 'plain', 'create', 1), ('plain, 2', 'plain', 'create', 2),
           ('polite, 1', 'polite', 'create', 1), ('polite, 2', 'polite', 'create', 2),
           *[('regroup, %d' % np, 'regroup', 'default', np) for np in (1, 2, 4, 8)]]


def times(store, runner, a):
    """A table of times over plain MPICH's on one rank: medians of rounds in which each column runs
    once. How many runs were wrong."""
    program = NWChem(store, runner)
    print('NWChem %s; times over those of the first column, medians of %d rounds\n' % (
        program.version, a.rounds))
    columns = [c for c in COLUMNS if (not a.np or c[3] in a.np) and
               (c[1] in (a.ways or jobs.WAYS) or c is COLUMNS[0])]
    if COLUMNS[0] not in columns:
        columns.insert(0, COLUMNS[0])
    table = jobs.Table('', *(c[0] for c in columns))
    for name in a.only or ['ccsd', 'mp2', 'dft']:
        seconds, reference = {c: [] for c in columns}, None
        for _ in range(a.rounds):
            for c in columns:
                job, energy = program.run(name, c[3], c[1], c[2])
                reference = reference or energy
                if energy is None or abs(energy - reference) > TOLERANCE:
                    table.wrong += 1
                    continue
                seconds[c].append(job.seconds)
        table.row(CALCULATIONS[name][0], *cells(seconds, columns))
    return table.wrong


def cells(seconds, columns):
    base = statistics.median(seconds[columns[0]] or [float('nan')])
    yield '1 (%.3g s)' % base
    for c in columns[1:]:
        yield '%.2f' % (statistics.median(seconds[c]) / base) if seconds[c] else 'wrong'

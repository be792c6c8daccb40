#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A selection of programs that others wrote, with libregroup-mpi.so preloaded: NWChem's Hartree-Fock
energy (by Global Arrays and ARMCI-MPI), and coarray programs. It is skipped where the packages
cannot be had; RGT_PROGRAMS names a folder that keeps them.

tier: all
time: 120
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs'))
import coarrays
import jobs
import nwchem
import packages

FETCHING = 60  # seconds that all packages together may take
# OpenCoarrays leaves messages in a communicator that it frees at the end: an error in MPICH 4.2.
LEFT = 'unmatched message(s)'
ENERGY = -152.054002601045  # NWChem 7.0.2 with plain MPICH on one rank


def check_nwchem(store, runner):
    program = nwchem.NWChem(store, runner)
    for np, setting in [(1, 'default'), (2, 'default'), (2, 'create')]:
        job, energy = program.run('scf', np, 'regroup', setting)
        said, right = nwchem.judged(job, energy, ENERGY)
        assert right and job.served and not job.passed, (np, setting, said, job.text[-3000:])


def check_coarrays(store, runner):
    program = coarrays.Coarrays(store, runner)
    assert len(program.ours) == 6, program.ours
    for name in program.ours:
        path = program.build(name)
        said, job = program.run(path, 3, 'regroup')
        if LEFT in job.text and coarrays.RIGHT.search(job.text):
            assert LEFT in program.run(path, 3)[1].text, (name, said, job.text[-3000:])
            continue
        assert not said, (name, said, job.text[-3000:])


def main():
    build = os.environ['RGT_BUILD']
    if os.path.basename(build) not in ('release', 'debug') or \
            'openmpi' in os.environ.get('RGT_MPIEXEC', ''):
        print('the programs are for MPICH, and not linked with a sanitizer')
        sys.exit(77)
    kept, missing = os.environ.get('RGT_PROGRAMS'), []
    with tempfile.TemporaryDirectory() as scratch:
        store = packages.Store(kept or scratch, FETCHING)
        runner = jobs.Runner(build, 100)
        for check in [check_nwchem, check_coarrays]:
            try:
                check(store, runner)
            except packages.Missing as e:
                missing.append(str(e))
    if missing:
        print('cannot be had: %s' % '; '.join(missing).replace('\n', ' '))
        sys.exit(77)


main()

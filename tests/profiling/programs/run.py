#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs programs that others wrote, as they are and with libregroup-polite.so and libregroup-mpi.so
preloaded, checks their results and prints a table. docs/programs.md has what came of it.

    tests/profiling/programs/run.py nwchem
    tests/profiling/programs/run.py nwchem --table      # times instead of outcomes

The programs are Debian's packages. They are fetched by apt-get and unpacked in a folder of their
own, nothing is installed; with the packages there, no network is needed.
"""
import argparse
import os
import resource
import sys

import coarrays
import ga
import hpcc
import jobs
import mpich
import nwchem
import packages
import relink

PROGRAMS = {'nwchem': nwchem, 'ga': ga, 'coarrays': coarrays, 'mpich': mpich, 'hpcc': hpcc, 'relink': relink}


def words(text):
    return text.replace(',', ' ').split()


def arguments():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('program', nargs='+', choices=PROGRAMS)
    p.add_argument('--only', type=words, default=[], metavar='NAMES',
                   help='of the program\'s calculations or tests only these')
    p.add_argument('--np', type=lambda text: [int(n) for n in words(text)], default=[],
                   metavar='RANKS', help='as "1,2,4,8"')
    p.add_argument('--ways', type=words, default=[], help='of %s' % ', '.join(jobs.WAYS))
    p.add_argument('--table', action='store_true', help='times, interleaved (nwchem only)')
    p.add_argument('--rounds', type=int, default=5, metavar='N', help='of --table (5)')
    p.add_argument('--folders', type=words, default=[], help='of MPICH\'s tests')
    p.add_argument('--pools', action='store_true', help='MPICH\'s tests over all kinds of datatypes')
    p.add_argument('--keep', action='store_true', help='writes MPICH\'s outcomes into mpich.txt')
    p.add_argument('--limit', type=float, default=600, metavar='S', help='seconds of one run (600)')
    p.add_argument('--outputs', metavar='FOLDER', help='keeps the output of runs that are wrong')
    p.add_argument('--build', default=jobs.TOP + '/build', help='where lib is (build)')
    p.add_argument('--store', default=os.environ.get('RGT_PROGRAMS'), metavar='FOLDER',
                   help='where the packages are kept (RGT_PROGRAMS, or else BUILD/programs)')
    return p.parse_args()


def main():
    a = arguments()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    runner = jobs.Runner(a.build, a.limit)
    wrong = 0
    try:
        store = packages.Store(a.store or a.build + '/programs')
        for name in a.program:
            module = PROGRAMS[name]
            wrong += (module.times if a.table else module.check)(store, runner, a)
    except packages.Missing as e:
        print('cannot be had: %s' % e)
        sys.exit(77)
    print('\n%d wrong' % wrong)
    sys.exit(wrong > 0)


if __name__ == '__main__':
    main()

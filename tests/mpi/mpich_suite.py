#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs MPICH's own tests under libregroup-mpi.so. Not part of the tests: MPICH's source has to be
fetched, and its folder test/mpi configured and made (docs/preload.md tells how).

    tests/mpi/mpich_suite.py FOLDER/test/mpi/coll      # with the library
    tests/mpi/mpich_suite.py --alone FOLDER/test/mpi/coll
"""
import argparse
import collections
import os
import re
import subprocess
import sys

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       '../../build/lib/libregroup-mpi.so')


def tests_of(folder):
    """Program, ranks, {word: [values]} for each line of the folder's testlist that was built."""
    with open(os.path.join(folder, 'testlist')) as f:
        lines = [line.split('#')[0].split() for line in f]
    for words in lines:
        if len(words) > 1 and os.access(os.path.join(folder, words[0]), os.X_OK):
            more = collections.defaultdict(list)
            for key, _, value in (word.partition('=') for word in words[2:]):
                more[key].append(value)
            if 'resultTest' not in more:  # else it is to abort
                yield words[0], words[1], more


def run(folder, program, ranks, more, alone, limit):
    """Whether it passed, and what it printed."""
    command = ['timeout', '-k', '5', str(limit * 3 if 'timeLimit' in more else limit),
               'mpiexec.mpich', '-n', ranks, 'env', *more['env']]
    if not alone:
        command += ['LD_PRELOAD=' + os.path.realpath(LIBRARY), 'LD_BIND_NOW=1', 'RG_MPI_REPORT=1']
    done = subprocess.run([*command, './' + program, *more['arg']], cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode == 0 and 'No Errors' in done.stdout, done.stdout


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folders', nargs='+', help='such as test/mpi/coll')
    p.add_argument('--alone', action='store_true', help='without the library')
    p.add_argument('--limit', type=int, default=120, metavar='S', help='seconds of one run')
    a = p.parse_args()
    passed, failed, served = 0, 0, collections.Counter()
    for folder in a.folders:
        for program, ranks, more in tests_of(folder):
            well, text = run(folder, program, ranks, more, a.alone, a.limit)
            passed, failed = passed + well, failed + (not well)
            if not well:
                print('FAIL %s, %s ranks\n%s' % (program, ranks, text[-2000:]), flush=True)
            for row in re.findall(r'^regroup-mpi: (\w+) +(\d+) ', text, re.M):
                served[row[0]] += int(row[1])
    print('%d runs passed, %d failed' % (passed, failed))
    print('calls served: ' + ', '.join('%s %d' % row for row in sorted(served.items())))
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()

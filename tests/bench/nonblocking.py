#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Non-blocking collectives of plain MPI programs, each started and waited for at once, as IMB-NBC's pure
times: plain MPICH, MPICH with libregroup-polite.so, and with libregroup-mpi.so, in turn. A ratio is the
median over pairs of runs that follow one another, another program's time over libregroup-mpi's, with the
95 % interval of the median. Prints the median of all cells, that of each operation, and the cells in
which libregroup-mpi is slower beyond doubt."""
import argparse
import json
import os
import statistics
import subprocess
import sys

from polite import command_of, in_turn, interval
from table import processors, tell

CONTENDERS = ['mpi', 'polite', 'plain']


def fail(*words):
    sys.exit('nonblocking.py: ' + ' '.join(str(w) for w in words))


def run(given, ranks, contender):
    """{(way, operation, bytes): seconds of a call} of one job."""
    command = command_of(given, ranks, contender, 'plain_nonblocking', given.longest, given.calls)
    done = subprocess.run(command, capture_output=True, text=True, timeout=given.limit)
    rows = [line.split() for line in done.stdout.splitlines()]
    if done.returncode or not rows:
        fail(' '.join(command), 'ended with', done.returncode, done.stdout, done.stderr)
    return {(way, operation, int(n)): 1e-6 * float(us) for way, operation, n, us in rows}


def measure(given, ranks):
    """Plain MPICH takes milliseconds for a call where ranks share processors: it is left out there."""
    contenders = CONTENDERS if ranks <= processors() else CONTENDERS[:2]
    took = {c: [] for c in contenders}
    for contender in in_turn(contenders, given.pairs):
        took[contender].append(run(given, ranks, contender))
    for other in contenders[1:]:
        for way, operation, n in took['mpi'][0]:
            key = way, operation, n
            theirs, ours = ([r[key] for r in took[c]] for c in (other, 'mpi'))
            ratios = [a / b for a, b in zip(theirs, ours)]
            low, high = interval(ratios)
            yield {'operation': operation, 'bytes': n, 'ranks': ranks, 'way': way,
                   'waiting': other, 'mpi': statistics.median(theirs), 'ours': statistics.median(ours),
                   'ratio': statistics.median(ratios), 'low': low, 'high': high}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('build', help='the folder of the build: build/release')
    p.add_argument('--ranks', default='2,4,8', help='2,4,8')
    p.add_argument('--pairs', type=int, default=15, help='runs of each (15)')
    p.add_argument('--longest', type=int, default=524288, help='bytes of a block (524288)')
    p.add_argument('--calls', type=int, default=200, help='of a short operation in a run (200)')
    p.add_argument('--limit', type=int, default=120, help='seconds that no run may exceed (120)')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    p.add_argument('--json', help='a file for all cells')
    given = p.parse_args()
    if not os.path.exists(given.build + '/tests/plain_nonblocking'):
        fail(given.build + '/tests/plain_nonblocking is not built: scons tests')
    cells = [c for n in given.ranks.split(',') for c in measure(given, int(n))]
    tell(cells)
    if given.json:
        with open(given.json, 'w') as f:
            json.dump({'pairs': given.pairs, 'processors': processors(),
                       'cells': cells}, f, indent=1)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""How long the calls of MPI's fault-tolerance extension take in a program that has libregroup-mpi.so
preloaded (plain_fault_times.c): the medians of several runs, and as multiples of the barrier and of
MPI_Comm_create_group of the same run, both of which the library serves.

    python3 tests/mpi/fault_times.py --build build/release --ranks 8 --runs 9
    python3 tests/mpi/fault_times.py --nodes namespaces --ranks 8    # on two pretended nodes
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'recovery'))
import deaths  # noqa: E402

NAMES = {'barrier': 'MPI_Barrier', 'agree': 'MPIX_Comm_agree', 'create': 'MPI_Comm_create_group',
         'shrink': 'MPIX_Comm_shrink', 'revoke': 'MPIX_Comm_revoke until all others return',
         'death': 'a death until MPI_Allreduce returns', 'shrink-after': 'MPIX_Comm_shrink after it',
         'agree-after': 'MPIX_Comm_agree after it'}
OVER = {'agree': 'barrier', 'shrink': 'create'}


def one_run(a, where):
    """{name: microseconds}"""
    build = os.path.abspath(a.build)
    words = [*where.begin(a.ranks), '-genv', 'LD_PRELOAD', build + '/lib/libregroup-mpi.so', '-n', str(a.ranks),
             build + '/tests/plain_fault_times', str(a.calls)]
    done = subprocess.run(['timeout', '120', *words], env={**deaths.ENV, **where.env}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = dict(re.findall(r'^TIME (\S+) ([\d.]+)$', done.stdout, re.M))
    if done.returncode or set(found) != set(NAMES):
        sys.exit('fault_times.py: status %d: %s' % (done.returncode, done.stdout))
    return {name: float(us) for name, us in found.items()}


def main():
    p = argparse.ArgumentParser(description="How long MPI's fault-tolerance calls take.")
    p.add_argument('--build', default='build/release')
    p.add_argument('--ranks', type=int, default=8)
    p.add_argument('--runs', type=int, default=9)
    p.add_argument('--calls', type=int, default=200, help='of each in a run')
    p.add_argument('--nodes', choices=['node', 'cliques', 'namespaces'], default='node')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    a = p.parse_args()
    with deaths.nodes_of(a.nodes, a.mpiexec.split()) as where:
        runs = [one_run(a, where) for _ in range(a.runs)]
    for name, text in NAMES.items():
        times = sorted(r[name] for r in runs)
        line = '%-42s median %10.1f us, worst %10.1f us' % (text, statistics.median(times), times[-1])
        if name in OVER:
            ratios = [r[name] / r[OVER[name]] for r in runs]
            line += ', %.2f of %s' % (statistics.median(ratios), NAMES[OVER[name]])
        print(line)


if __name__ == '__main__':
    main()

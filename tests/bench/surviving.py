#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What a job that survives costs a program of MPI alone that has libregroup-mpi.so preloaded: its messages
and collectives (plain_message_times.c) over those of plain MPICH over the same transports, and of plain
MPICH over its own transports. The contenders take turns; each ratio is the median of those of the runs.

    python3 tests/bench/surviving.py build/release --ranks 2 --runs 9
    python3 tests/bench/surviving.py build/release --before OTHER/build/release    # a job that does not survive
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

TRANSPORTS = {'UCX_TLS': 'tcp,self'}  # what regroup-run chooses on one node


def contenders_of(build, before):
    """{name: environment}; each is compared with the first"""
    def library(folder):
        return {'LD_PRELOAD': os.path.abspath(folder) + '/lib/libregroup-mpi.so'}
    if before:
        return {'before': library(before), 'now': library(build)}
    return {'plain': TRANSPORTS, 'surviving': {'RG_SURVIVE': '1', **TRANSPORTS, **library(build)}, 'plain, all transports': {}}


def one_run(a, env):
    """{(call, bytes): microseconds}"""
    given = [word for pair in env.items() for word in ('-genv', *pair)]
    command = ['timeout', '60', *a.mpiexec.split(), *given, '-n', str(a.ranks),
               os.path.abspath(a.build) + '/tests/plain_message_times']
    outer = dict(os.environ, RG_SURVIVE='1') if 'RG_SURVIVE' in env else os.environ
    done = subprocess.run(command, capture_output=True, text=True, env=outer)
    found = re.findall(r'^TIME (\w+) (\d+) (\S+)$', done.stdout, re.M)
    if done.returncode or not found:
        sys.exit('surviving.py: %s: status %d: %s%s' % (command, done.returncode, done.stdout, done.stderr))
    return {(name, int(size)): float(us) for name, size, us in found}


def main():
    p = argparse.ArgumentParser(description='What a job that survives costs a preloaded program.')
    p.add_argument('build')
    p.add_argument('--before', help='another build: its library against this one, in jobs that do not survive')
    p.add_argument('--ranks', type=int, default=2)
    p.add_argument('--runs', type=int, default=9)
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    a = p.parse_args()
    contenders = contenders_of(a.build, a.before)
    runs = {name: [] for name in contenders}
    for i in range(a.runs):
        names = list(contenders)
        for name in names[i % len(names):] + names[:i % len(names)]:
            runs[name].append(one_run(a, contenders[name]))
    first = next(iter(runs))
    for key in runs[first][0]:
        cells = []
        for name, of in runs.items():
            ratio = statistics.median(run[key] / other[key] for run, other in zip(of, runs[first]))
            cells.append('%s %.2f us, %.3f' % (name, statistics.median(run[key] for run in of), ratio))
        print('%-14s %8d B  %s' % (*key, '; '.join(cells)), flush=True)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What it costs to be able to survive without a death: barriers in shared memory with RG_SURVIVE
and without, in turn, what one wait does to notice deaths, by itself, and rg_group_comm. Prints medians of runs.

    python3 tests/recovery/price.py --build build/release --ranks 2 --runs 20
"""
import argparse
import os
import re
import statistics
import subprocess


def one_run(a, survive):
    text = subprocess.run(['timeout', '120', *a.mpiexec.split(), '-n', str(a.ranks),
                           os.path.join(a.build, 'tests', 'price'), str(a.repeats)],
                          env=dict(os.environ, RG_SURVIVE=survive, UCX_TLS='tcp,self'),
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    return [float(x) for x in re.search(r'^WAIT ([\d.]+) ([\d.]+) ([\d.]+)', text, re.M).groups()]


def main():
    p = argparse.ArgumentParser(description='What being able to survive costs.')
    p.add_argument('--build', default='build/release')
    p.add_argument('--ranks', type=int, default=2)
    p.add_argument('--runs', type=int, default=20)
    p.add_argument('--repeats', type=int, default=500, help='batches of 200 barriers in a run')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    a = p.parse_args()
    runs = [(one_run(a, '0'), one_run(a, '1')) for _ in range(a.runs)]
    without = statistics.median(r[0][0] for r in runs)
    with_it = statistics.median(r[1][0] for r in runs)
    print('a barrier of %d ranks: %.1f ns without RG_SURVIVE, %.1f ns with it: %+.1f ns (%+.2f %%)' %
          (a.ranks, without, with_it, with_it - without, 100 * (with_it - without) / without))
    print('rg_group_comm: %.1f us without, %.1f us with it' %
          tuple(statistics.median(r[i][2] for r in runs) for i in (0, 1)))
    print('looking for deaths in a wait: %.1f ns' % statistics.median(r[1][1] for r in runs))


if __name__ == '__main__':
    main()

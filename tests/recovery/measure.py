#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""How long a death costs: one rank killed at a random moment in each run. Prints the medians from
the death to the first survivor's notice, and until all are at work again: on one node
example-recover, with its array; on two nodes survivors (survivors.c), with their group, once for
each rank killed and once for all ranks of a node at once.

    python3 tests/recovery/measure.py --build build/release --ranks 16 --runs 30
    python3 tests/recovery/measure.py --nodes namespaces --ranks 8 --runs 30
"""
import argparse
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time

import deaths


def example(a, bin_):
    """Milliseconds from the kill to noticing and to going on, or None."""
    kill = '%d:%.3f' % (random.randrange(a.ranks), random.uniform(0.05, 0.4))
    text = subprocess.run(['timeout', '120', bin_ + '/regroup-run', '-n', str(a.ranks),
                           bin_ + '/example-recover', '--kill', kill],
                          stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r'noticed by rank \d+ after ([\d.]+) ms, .* after ([\d.]+) ms', text)
    return found and (float(found[1]), float(found[2]))  # else it ended before


def survivors(a, where, whole):
    """The same; whole: all ranks of a node are killed."""
    program = os.path.join(a.build, 'tests', 'survivors')
    job = subprocess.Popen(['timeout', '120', *where.begin(a.ranks), '-n', str(a.ranks), program, '',
                            '1500', '0.003', 'tell'], env=dict(deaths.ENV, **where.env), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(1, 2) + 0.1 * a.ranks)  # all ranks are at work
    living = deaths.ranks_of(job.pid, 'survivors')
    one = random.choice(living) if living else 0
    node = living and where.node_of(deaths.rank_of(one))
    killed = [p for p in living if p == one or (whole and where.node_of(deaths.rank_of(p)) == node)]
    began = time.monotonic()
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    back = [(float(x) - began, float(y) - began)
            for x, y in re.findall(r'^BACK ([\d.]+) ([\d.]+)', job.communicate()[0], re.M)]
    return back and (1e3 * min(x for x, _ in back), 1e3 * max(y for _, y in back))


def show(what, found, a):
    found = [f for f in found if f]
    if not found:
        sys.exit('no rank died in time')
    for which, times in zip(('noticed', 'all at work again'), zip(*found)):
        print('%-22s %-18s median %6.1f ms, worst %6.1f ms (%d deaths, %d ranks)' %
              (what, which, statistics.median(times), max(times), len(times), a.ranks))


def main():
    p = argparse.ArgumentParser(description='How long a death costs.')
    p.add_argument('--build', default='build/release')
    p.add_argument('--ranks', type=int, default=16)
    p.add_argument('--runs', type=int, default=30)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--nodes', choices=['node', 'cliques', 'namespaces'], default='node')
    a = p.parse_args()
    random.seed(a.seed)
    if a.nodes == 'node':
        show('a rank', [example(a, os.path.join(a.build, 'bin')) for _ in range(a.runs)], a)
        return
    with deaths.nodes_of(a.nodes, ['mpiexec.mpich']) as where:
        show('a rank', [survivors(a, where, 0) for _ in range(a.runs)], a)
        show('all ranks of a node', [survivors(a, where, 1) for _ in range(a.runs)], a)


if __name__ == '__main__':
    main()

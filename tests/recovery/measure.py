#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""How long a death costs: one rank killed at a random moment in each run. Prints the medians from
the death to the first survivor's notice, and until all are at work again: on one node
example-recover, with its array; on two nodes survivors (survivors.c), with their group, once for
each rank killed and once for all ranks of a node at once. With networks of their own: until the
others on the dead one's node and elsewhere notice, and until a node that is cut off is missed.

    python3 tests/recovery/measure.py --build build/release --ranks 16 --runs 30
    python3 tests/recovery/measure.py --nodes namespaces --ranks 8 --runs 30
    python3 tests/recovery/measure.py --nodes network --count 4 --ranks 8 --runs 30
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cluster'))
import faults  # noqa: E402


def example(a, bin_):
    """Milliseconds from the kill to noticing and to going on, or None."""
    kill = '%d:%.3f' % (random.randrange(a.ranks), random.uniform(0.05, 0.4))
    text = subprocess.run(['timeout', '120', bin_ + '/regroup-run', '-n', str(a.ranks),
                           bin_ + '/example-recover', '--kill', kill],
                          stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r'noticed by rank \d+ after ([\d.]+) ms, .* after ([\d.]+) ms', text)
    return found and (float(found[1]), float(found[2]))  # else it ended before


def start_survivors(a, where, env=()):
    """At work, and their processes; each tells when it has noticed a death."""
    program = os.path.join(a.build, 'tests', 'survivors')
    job = subprocess.Popen(['timeout', '120', *where.begin(a.ranks), '-disable-auto-cleanup', '-n',
                            str(a.ranks), program, '', '1500', '0.003', 'tell'],
                           env={**deaths.ENV, **where.env, **dict(env)}, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(1, 2) + 0.1 * a.ranks)
    return job, deaths.ranks_of(job.pid, 'survivors')


def told(job, began):
    """Of each survivor the first time: rank, milliseconds until it has noticed, and until it is at
    work again."""
    found = {}
    for rank, *times in re.findall(r'^BACK (\d+) ([\d.]+) ([\d.]+)', job.communicate()[0], re.M):
        found.setdefault(int(rank), [1e3 * (float(t) - began) for t in times])
    return found


def survivors(a, where, whole):
    """The first to notice, and the last to be at work; whole: all ranks of a node are killed."""
    job, living = start_survivors(a, where)
    one = random.choice(living) if living else 0
    node = living and where.node_of(deaths.rank_of(one))
    killed = [p for p in living if p == one or (whole and where.node_of(deaths.rank_of(p)) == node)]
    began = time.monotonic()
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    back = told(job, began).values()
    return back and (min(x for x, _ in back), max(y for _, y in back))


def kill_one(a, where):
    """Medians over the ranks of the dead one's node, and over all others."""
    job, living = start_survivors(a, where, {'UCX_NET_DEVICES': 'eth0'})
    one = random.choice(living)
    node, began = where.node_of(deaths.rank_of(one)), time.monotonic()
    os.kill(one, signal.SIGKILL)
    back = told(job, began)
    near = [x for rank, (x, _) in back.items() if where.node_of(rank) == node]
    far = [x for rank, (x, _) in back.items() if where.node_of(rank) != node]
    return near and far and (statistics.median(near), statistics.median(far))


def cut_one(a, where):
    """The median and the last of those that go on."""
    broken = faults.Faults(where.nodes)
    job, _ = start_survivors(a, where, {'UCX_NET_DEVICES': 'eth0', 'RG_NODE_TIMEOUT': str(a.limit)})
    node, began = random.randrange(where.count), time.monotonic()
    broken.cut(faults.alone(node, range(where.count)))
    back = told(job, began)
    broken.heal()
    times = [x for rank, (x, _) in back.items() if where.node_of(rank) != node]
    return times and (statistics.median(times), max(times))


def show(what, found, a, columns=('noticed', 'all at work again')):
    found = [f for f in found if f]
    if not found:
        sys.exit('no rank died in time')
    for which, times in zip(columns, zip(*found)):
        print('%-22s %-18s median %6.1f ms, worst %6.1f ms (%d deaths, %d ranks)' %
              (what, which, statistics.median(times), max(times), len(times), a.ranks))


def main():
    p = argparse.ArgumentParser(description='How long a death costs.')
    p.add_argument('--build', default='build/release')
    p.add_argument('--ranks', type=int, default=16)
    p.add_argument('--runs', type=int, default=30)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--nodes', choices=['node', 'cliques', 'namespaces', 'network'],
                   default='node')
    p.add_argument('--count', type=int, default=4, help='of nodes, with a network')
    p.add_argument('--limit', type=float, default=2, help='RG_NODE_TIMEOUT, with a network')
    a = p.parse_args()
    random.seed(a.seed)
    if a.nodes == 'node':
        show('a rank', [example(a, os.path.join(a.build, 'bin')) for _ in range(a.runs)], a)
        return
    if a.nodes == 'network':
        with deaths.cluster.Nodes(a.count, network=True) as nodes:
            where = deaths.Namespaces(['mpiexec.mpich'], nodes)
            show('a rank', [kill_one(a, where) for _ in range(a.runs)], a, ('on its node', 'elsewhere'))
            show('a node cut off, %g s' % a.limit, [cut_one(a, where) for _ in range(a.runs)], a,
                 ('noticed', 'by the last'))
        return
    with deaths.nodes_of(a.nodes, ['mpiexec.mpich']) as where:
        show('a rank', [survivors(a, where, 0) for _ in range(a.runs)], a)
        show('all ranks of a node', [survivors(a, where, 1) for _ in range(a.runs)], a)


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs worlds.c on three and four pretended nodes with networks of their own, again and again, with one
to three faults in each, single and overlapping, until the time is up or a run was not right:

    python3 tests/recovery/network_soak.py --build build/release --seconds 3600 --beside 3 --go-on
    python3 tests/recovery/network_soak.py --seed 1234 --runs 1     # one run again

Ranks, guards and daemons are killed, or stopped for 0.1 to 8 s; whole nodes are powered off or
suspended; a path, a node, halves, or all are cut off for 0.1 to 60 s, or for good. worlds.py says what
is right. The seed of a run draws its faults (the first ones take turns in kind); their moments are
those of a real clock, so that a run that is done again is like the first one, not the same.
"""
import argparse
import collections
import concurrent.futures
import itertools
import random
import sys
import tempfile
import time

import worlds
from deaths import cluster
from worlds import CUTS, FOR_GOOD, KILLS, STOPS, Fault

KINDS = KILLS + STOPS + CUTS
LIFE = 3  # seconds in which faults begin
LIMITS = [1] * 9 + [2] * 10 + [15]
ONCE = 20  # of so many cuts one is as long as it may be


def draw_seconds(rng, kind, limit):
    """Below the limit, about the limit, or for good."""
    if kind in KILLS:
        return FOR_GOOD
    if kind in ('stop rank', 'stop guard'):  # are not given up
        return rng.uniform(0.1, 8)
    how = rng.randrange(3)
    if how == 2 and limit <= 2:
        return FOR_GOOD
    longest = 8 if kind in STOPS else 60 if limit > 2 else 2.5 * limit + 2
    return rng.uniform(0.1, worlds.SHORT * limit) if how == 0 else rng.uniform(0.1, longest)


def draw_fault(rng, kind, at, count, limit):
    nodes = {'cut path': 2, 'cut halves': count // 2, 'cut all': 0}.get(kind, 1)
    return Fault(kind, at, draw_seconds(rng, kind, limit), rng.sample(range(count), nodes),
                 rng.randrange(1000), kind in CUTS[1:] and rng.random() < 0.5)


def draw_plan(rng, first_kind, kinds, count, limit):
    """Half of the plans with several faults have them nearly at once."""
    faults, together = rng.choice([1, 1, 2, 3]), rng.random() < 0.5
    first = rng.uniform(0, LIFE)
    moments = [first] + [first + rng.uniform(0, 0.5) if together else rng.uniform(0, LIFE)
                         for _ in range(faults - 1)]
    return [draw_fault(rng, rng.choice(kinds) if i else first_kind, at, count, limit)
            for i, at in enumerate(moments)]


class Soak:
    def __init__(self, build, kinds):
        self.program, self.kinds = build + '/tests/worlds', kinds
        self.single, self.several, self.wrong, self.ends = (collections.Counter() for _ in range(4))

    def run(self, seed, clusters):
        """Returns what is wrong, or ''."""
        rng = random.Random(seed)
        nodes = rng.choice(clusters)
        count, limit, each = len(nodes.nodes), rng.choice(LIMITS), rng.choice([1, 2, 2])
        plan = draw_plan(rng, self.kinds[seed % len(self.kinds)], self.kinds, count, limit)
        with tempfile.TemporaryDirectory(prefix='witness-') as folder:
            env = {'RG_WITNESS': folder + '/witness'} if rng.random() < 0.25 else {}
            run = worlds.Run(nodes, self.program, each, limit, LIFE + 1, plan, env,
                             rng.random() < 0.5)
            wrong = run.play()
        self.count(run, wrong)
        return wrong

    def count(self, run, wrong):
        done = run.done()
        counter = self.single if len(done) == 1 else self.several
        for f in done:
            counter[f.kind] += 1
            self.wrong[f.kind] += bool(wrong)
        self.ends['wrong' if wrong else 'ended by mpiexec' if run.is_of_launcher() and not run.ends
                  else 'a world of all nodes' if not run.lost()
                  else 'a world of some nodes' if run.ends else 'no world, and a line'] += 1

    def report(self):
        said = ''.join('  %5d runs: %s\n' % (n, how) for how, n in sorted(self.ends.items()))
        for kind in self.kinds:
            said += '  %-12s %4d alone, %4d with others, %4d of these in runs that were not right\n' % (
                kind, self.single[kind], self.several[kind], self.wrong[kind])
        return said


def arguments():
    p = argparse.ArgumentParser(description='Faults of the network, for as long as is asked for.')
    p.add_argument('--build', default='build/release', help='where worlds was built')
    p.add_argument('--seconds', type=float, default=180)
    p.add_argument('--runs', type=int, default=10**9, help='at most')
    p.add_argument('--seed', type=int, default=random.randrange(2**31),
                   help='of the first run; the next one has the next')
    p.add_argument('--kinds', default=','.join(KINDS), help='of faults')
    p.add_argument('--beside', type=int, default=1, help='so many runs at a time')
    p.add_argument('--go-on', action='store_true', help='also after a run that was not right')
    return p.parse_args()


def soak_on(a):
    """How many runs were not right."""
    soak, seeds, wrong = Soak(a.build, a.kinds.split(',')), itertools.count(a.seed), []
    began = time.monotonic()

    def work():
        with cluster.Nodes(3, network=True) as three, cluster.Nodes(4, network=True) as four:
            while time.monotonic() < began + a.seconds and (a.go_on or not wrong):
                seed = next(seeds)
                said = seed < a.seed + a.runs and soak.run(seed, [three, four])
                if said:
                    wrong.append(seed)
                    print('seed %d: %s' % (seed, said), flush=True)
                if seed >= a.seed + a.runs - 1:
                    return
    with concurrent.futures.ThreadPoolExecutor(a.beside) as pool:
        for done in [pool.submit(work) for _ in range(a.beside)]:
            done.result()
    print('from seed %d, %.0f s, wrong: %s\n%s' % (a.seed, time.monotonic() - began, wrong or 'none',
                                               soak.report()), end='')
    return len(wrong)


def main():
    try:
        sys.exit(1 if soak_on(arguments()) else 0)
    except cluster.Unavailable as why:
        print(why)
        sys.exit(77)


if __name__ == '__main__':
    main()

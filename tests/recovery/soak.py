# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs programs that survive (kinds.py) again and again, one to three deaths in each, uniformly over
the run's life, start and end included, until the time is up or a run was not right:

    python3 tests/recovery/soak.py --build build/release --seconds 3600
    python3 tests/recovery/soak.py --nodes cliques      # on two pretended nodes
    python3 tests/recovery/soak.py --nodes namespaces   # the same, as docs/pretended-nodes.md makes them

A run is right if it ends by itself, with the result of an undisturbed run or with one clear error
that says why it cannot, and leaves no process, no shared memory and no file behind. How long a run
lives is measured, on the machine as it is, in runs without a death, now and then anew; what it has
to do is chosen so that it lives for longer than a start takes. On two nodes some deaths are of all
ranks of one node at once.
"""
import argparse
import collections
import os
import random
import re
import sys
import tempfile
import time

import kinds
from deaths import ENV, early_end, forget_mpich_files, is_mpich_start, nodes_of, one_run, \
    shared_files, unused, wait_gone

RANKS = 2, 3, 4, 6, 8
LIFE = 2.5  # seconds that an undisturbed run is to take: longer than its start
MEASURE_AGAIN = 600
ENDS = {'well': 'went on to the right result',
        'early': 'ended with one clear error, as a rank died before rg_init had returned everywhere',
        'cut': 'were aborted by MPI in another process before that error was out',
        'lost': 'ended with an error that says which data were lost with all their holders'}


class Soak:
    """Runs on one kind of nodes, and what has come of them."""

    def __init__(self, where, build, names=kinds.ALL, ranks=RANKS, wanted=LIFE, limit=300):
        self.where, self.build, self.ranks, self.wanted, self.limit = where, build, ranks, wanted, \
            limit
        self.names = kinds.of(where, names)
        self.lives, self.rounds = {}, {}  # by program and ranks
        self.expected = {}  # by program and rounds
        self.before = set(os.listdir('/dev/shm'))
        self.ends, self.runs, self.kills = (collections.Counter() for _ in range(3))
        self.times, self.latest, self.mpich_files = [], 0, 0

    def run(self, seed):
        """One run, drawn by the seed. Returns what is wrong, or None."""
        random.seed(seed)
        name, np = random.choice(self.names), random.choice(self.ranks)
        deaths, state = random.randint(1, min(3, np - 1)), random.getstate()
        life, wrong = self.life(name, np)
        if wrong:
            return wrong
        random.setstate(state)
        wrong, moments = self.attempt(name, np, deaths, life)
        self.kills['missed'] += deaths - len(moments)
        return wrong

    def life(self, name, np):
        """Of an undisturbed run, in seconds; and what is wrong with it."""
        key, began = (name, np), time.monotonic()
        if key in self.lives and began - self.lives[key][1] < MEASURE_AGAIN:
            return self.lives[key][0], None
        wrong, _ = self.attempt(name, np, 0, 0)
        if not wrong and not 0.6 < self.seconds / self.wanted < 1.6:
            done = self.rounds.get(key, kinds.ALL[name].rounds)
            self.rounds[key] = max(10, int(done * self.wanted / self.seconds))
            wrong, _ = self.attempt(name, np, 0, 0)
        self.lives[key] = self.seconds, began
        return self.seconds, wrong and 'undisturbed: ' + wrong

    def attempt(self, name, np, deaths, life):
        """What is wrong with a run, or None; and when processes were killed."""
        kind = kinds.ALL[name](np, self.rounds.get((name, np)))
        mark, moments = 'RGT_SOAK=%d-%d' % (os.getpid(), time.monotonic_ns()), []

        def start(np):
            return [*self.where.begin(np), '-n', str(np), kinds.path(self.build, kind)]
        with tempfile.TemporaryDirectory(prefix='soak-') as folder:
            env, shared = dict(ENV, TMPDIR=folder, **dict([mark.split('=')])), shared_files()
            began = time.monotonic()
            status, text, killed = one_run([*start(kind.np), *kind.arguments], env, deaths, life,
                                           self.limit, self.where, folder, moments)
            self.seconds = time.monotonic() - began
            how, wrong = self.judge(name, kind, status, text, killed, moments)
            wrong = wrong or left_over(mark, shared, folder, kind.files)
            if not wrong and how != 'early':
                kind.expected = self.expected.get((name, kind.rounds))
                wrong = kind.look_at_files(start, folder)
        if wrong:
            return '%s on %d ranks (%s), killed at %s of %.2f s, status %s, %s: %s' % (
                name, kind.np, self.where.name, ['%.2f s: %d' % m for m in moments], life, status,
                wrong, text), moments
        if deaths:
            self.count(name, how, killed, moments)
        return None, moments

    def judge(self, name, kind, status, text, killed, moments):
        """How it ended, and what is wrong with that."""
        if status is None:
            return None, 'no end within %d s' % self.limit
        result, early = kind.result(text), early_end(status, text, self.where.launchers)
        if status == 0 and result:
            expected = self.expected.setdefault((name, kind.rounds), result[0])
            if expected != result[0]:
                return None, 'another result than %s' % expected
            self.times += [result[2]] if result[2] and killed else []
            return 'well', '' if 0 <= result[1] <= killed else 'another number of deaths'
        if killed and early:
            return early, ''
        if killed and kind.is_lost(status, text, killed):
            return 'lost', ''
        return None, 'neither a result nor one clear error'

    def count(self, name, how, killed, moments):
        self.ends[how] += 1
        self.runs[name] += 1
        start = how in ('early', 'cut')
        self.kills['start' if start else 'running'] += killed
        self.kills[name] += 0 if start else killed
        if start:
            self.latest = max(self.latest, moments[0][0])
            self.mpich_files += forget_mpich_files(self.before)

    def report(self):
        said = '%d runs; ranks killed: %d in running programs, %d before rg_init had returned ' \
            'everywhere; %d kills found no process any more\n' % (
                sum(self.runs.values()), self.kills['running'], self.kills['start'],
                self.kills['missed'])
        for how in ENDS:
            said += '  %5d %s\n' % (self.ends[how], ENDS[how])
        for name in sorted(self.runs):
            said += '  %-10s %5d runs, %5d ranks killed while running\n' % (
                name, self.runs[name], self.kills[name])
        if self.latest:
            said += 'the latest death before rg_init had returned everywhere was %.2f s after the ' \
                'start; MPICH left %d files of MPI_Init\n' % (self.latest, self.mpich_files)
        if self.times:
            t = sorted(self.times)
            said += 'longest recovery of a run: median %.1f ms, 9 in 10 within %.1f ms, worst ' \
                '%.1f ms\n' % (t[len(t) // 2], t[len(t) * 9 // 10], t[-1])
        return said


def left_over(mark, shared, folder, asked):
    """What a run has left that it was not asked to, or ''."""
    processes = wait_gone(mark)
    files = [f for f in os.listdir(folder) if not asked or not re.fullmatch(asked, f)]
    new = {p for p in shared_files() - shared if not is_mpich_start(p)}
    for _ in range(10):  # a job of another test may be about to use it
        new = unused(new) & shared_files() if new else new
        if new:
            time.sleep(0.2)
    return 'left behind: %s %s %s' % (processes, files, sorted(new)) if processes or files or new else ''


def main():
    p = argparse.ArgumentParser(description='Random kills, for as long as is asked for.')
    p.add_argument('--build', default='build/release', help='where they were built')
    p.add_argument('--seconds', type=float, default=180)
    p.add_argument('--seed', type=int, default=random.randrange(2**31),
                   help='of the first run; the next one has the next')
    p.add_argument('--kinds', default=','.join(kinds.ALL), help='what is run')
    p.add_argument('--go-on', action='store_true', help='also after a run that was not right')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    p.add_argument('--nodes', choices=['node', 'cliques', 'namespaces', 'slurm'], default='node')
    a = p.parse_args()
    end, seed, wrong = time.monotonic() + a.seconds, a.seed, 0
    with nodes_of(a.nodes, a.mpiexec.split()) as where:
        soak = Soak(where, a.build, a.kinds.split(','))
        while time.monotonic() < end and (a.go_on or not wrong):
            said = soak.run(seed)
            if said:
                print('seed %d: %s' % (seed, said), flush=True)
                wrong += 1
            seed += 1
    print('%s, seeds %d to %d, %d wrong: %s' % (a.nodes, a.seed, seed - 1, wrong, soak.report()), end='')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()

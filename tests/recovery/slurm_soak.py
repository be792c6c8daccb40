# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs programs that survive (kinds.py) by regroup-run on three nodes of Slurm, and loses one of the
nodes at a random moment, in one way or another, of which Slurm itself takes no notice for an hour:

    python3 tests/recovery/slurm_soak.py --build build/release --runs 100 --go-on
    python3 tests/recovery/slurm_soak.py --seed 1234 --runs 1     # one run again
    python3 tests/recovery/slurm_soak.py --restarts 10

A run is right if it ends by itself with the result of an undisturbed run and with status 0, and leaves
no process and no shared memory behind. In the end it is told how long after the last survivor
regroup-run has ended. Moments are between that at which the last node has begun and the end of a run
that nothing disturbs. The seed of a run draws its fault; the programs take turns. --restarts: saver.c is
lost with a node and with all ranks, and started again from its checkpoint; how long that takes.
"""
import argparse
import collections
import contextlib
import os
import random
import signal
import statistics
import sys
import tempfile
import time

import deaths
import kinds

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cluster'))
import cluster  # noqa: E402
import faults  # noqa: E402
import slurm  # noqa: E402

PROGRAMS = 'mcmc', 'mirrored', 'posterior'
ROUNDS = {'mcmc': 3000, 'mirrored': 400, 'posterior': 1500}
LATEST = {'step killed': 0.8}  # of the life of a run; later, nobody notices (docs/clusters.md)
FAULTS = {'machine lost': lambda s, node: s.lose(node), 'power lost': lambda s, node: s.lose(node, True),
          'step killed': slurm.Slurm.kill_steps, 'taken down': slurm.Slurm.take_down,
          'cable cut': slurm.Slurm.cut_off}
NODES, EACH = 3, 2
LIMIT = deaths.run_tests.limit(60)
ENV = dict(deaths.ENV, RG_OVERSUBSCRIBED='yes', UCX_TCP_KEEPIDLE='600s', UCX_TCP_KEEPINTVL='600s')


def environment():
    """A node that has too much to do is not taken for lost."""
    return dict(ENV, RG_NODE_TIMEOUT='%d' % max(3, deaths.run_tests.limit(1)))



class Job:
    """One run of a program on a Slurm of its own."""

    def __init__(self, made, build, kind, output):
        self.made, self.mark = made, 'RGT_SLURM=%d-%d' % (os.getpid(), time.monotonic_ns())
        self.name = os.path.basename(kind.program)[:15]
        words = [os.path.join(build, 'bin', 'regroup-run'), '--slurm',
                 *made.srun(NODES * EACH, EACH, options=())[2:], kinds.path(build, kind), *kind.arguments]
        env = dict(environment(), **dict([self.mark.split('=')]))
        self.process = made.start(words, env, **dict(deaths.READ, stdout=output))

    def wait(self, what):
        """False: it is too late."""
        deadline = time.monotonic() + LIMIT
        while not what():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def has_ended(self):
        return self.process.poll() is not None

    def is_everywhere(self):
        """Each node has a daemon."""
        return self.has_ended() or all(self.made.faults.named(n, faults.DAEMON) for n in range(NODES))

    def is_over(self, lost=None):
        """No rank lives but on the lost node."""
        return self.has_ended() or not any(self.made.faults.named(n, self.name)
                                           for n in range(NODES) if n != lost)

    def is_clean(self, lost):
        """Nothing is left of it."""
        living = [n for n in range(NODES) if n != lost]
        return not deaths.left_behind(self.mark) and not any(map(self.made.shared_files, living))


class Soak:
    def __init__(self, build, names=PROGRAMS, share=1):
        self.build, self.names, self.share = build, names, share
        self.lives, self.expected = {}, {}  # by program
        self.last = 0  # seconds that the last run took
        self.ends, self.faults = collections.Counter(), collections.Counter()
        self.waits = []  # from the end of the last survivor to that of regroup-run

    def run(self, seed):
        """Returns what is wrong, or ''."""
        name = self.names[seed % len(self.names)]
        if name not in self.lives:
            random.seed(seed)
            wrong = self.attempt(name, None, None, 0)
            if wrong:
                return 'undisturbed: ' + wrong
            self.lives[name] = self.last
        random.seed(seed)
        how, node = random.choice(list(FAULTS)), random.randrange(NODES)
        at = random.uniform(0, LATEST.get(how, 1))
        wrong = self.attempt(name, how, node, at * self.lives[name])
        self.ends['wrong' if wrong else 'right'] += 1
        self.faults[how] += 1
        return wrong and '%s, node%d %s after %.2f of %.2f s: %s' % (
            name, node, how, at * self.lives[name], self.lives[name], wrong)

    def attempt(self, name, how, node, moment):
        kind = kinds.ALL[name](NODES * EACH, ROUNDS[name] // self.share)
        with slurm.Slurm(NODES, SlurmdTimeout=3600) as made, tempfile.TemporaryFile('w+') as output:
            job = Job(made, self.build, kind, output)
            wrong = self.watch(job, how, node, moment)
            output.seek(0)
            text = output.read()
            wrong = wrong or self.judge(name, kind, job, text, how)
            if wrong and slurm.RESET in text:
                self.ends['ended by srun'] += 1
                wrong = ''
            if not wrong and not job.wait(lambda: job.is_clean(node)):
                wrong = 'left behind: %s' % deaths.left_behind(job.mark)
        return wrong and '%s; status %s: %s' % (wrong, job.process.returncode, text)

    def watch(self, job, how, node, moment):
        """From the beginning to the end. What is wrong, or ''."""
        if not job.wait(job.is_everywhere):
            return 'not all nodes have begun'
        began = time.monotonic()
        if how:
            time.sleep(moment)
            early = job.is_over()
            self.ends['had ended before'] += early
            if not early:
                FAULTS[how](job.made, node)
        if not job.wait(lambda: job.is_over(node if how else None)):
            return 'no end within %d s' % LIMIT
        self.last, over = time.monotonic() - began, time.monotonic()
        if not job.wait(job.has_ended):
            return 'regroup-run does not end'
        if how:
            self.waits.append(time.monotonic() - over)
        return ''

    def judge(self, name, kind, job, text, how):
        result = kind.result(text)
        if not result:
            return 'no result'
        if self.expected.setdefault(name, result[0]) != result[0]:
            return 'another result than %s' % self.expected[name]
        if not 0 <= result[1] <= (EACH if how else 0):
            return '%d deaths' % result[1]
        return '' if job.process.returncode == 0 else 'status'


def restart(build):
    """Seconds from the loss of the whole job until rank 0 has done all steps that were left."""
    with slurm.Slurm(NODES, SlurmdTimeout=3600) as made, tempfile.TemporaryDirectory() as folder:
        words = ['salloc', '-Q', '-N%d' % NODES, '-n%d' % (NODES * EACH), '--ntasks-per-node=%d' % EACH,
                 '--no-kill', os.path.join(build, 'bin', 'regroup-run'), '--restart',
                 os.path.join(build, 'tests', 'saver'), os.path.join(folder, 'state'), '10', 'sleep:4']
        job = made.start(words, environment(), **deaths.READ)
        while 'AT STEP' not in job.stdout.readline():
            assert job.poll() is None, 'it has ended'
        began = time.monotonic()
        made.lose(NODES - 1)
        for node in range(NODES - 1):
            made.faults.send(signal.SIGKILL, made.faults.named(node, 'saver'))
        while (line := job.stdout.readline()) and not line.startswith('SAVED 10 '):
            continue
        took = time.monotonic() - began
        assert line and job.wait(LIMIT) == 0, 'it was not started again'
        return took


def main():
    p = argparse.ArgumentParser(description='Nodes of Slurm that are lost, again and again.')
    p.add_argument('--build', default='build/release', help='where the programs were built')
    p.add_argument('--runs', type=int, default=60)
    p.add_argument('--seconds', type=float, default=10**9, help='no run begins later')
    p.add_argument('--seed', type=int, default=random.randrange(2**31),
                   help='of the first run; the next one has the next')
    p.add_argument('--kinds', default=','.join(PROGRAMS), help='what is run')
    p.add_argument('--short', action='store_true', help='a third of the work in each')
    p.add_argument('--go-on', action='store_true', help='also after a run that was not right')
    p.add_argument('--restarts', type=int, default=0, help='only this is measured, so often')
    a = p.parse_args()
    if a.restarts:
        took = [restart(a.build) for _ in range(a.restarts)]
        print('restart: %.1f s in the median, %.1f s at most' % (statistics.median(took), max(took)))
        return 0
    soak = Soak(a.build, a.kinds.split(','), 3 if a.short else 1)
    end, wrong = time.monotonic() + a.seconds, 0
    with contextlib.suppress(KeyboardInterrupt):
        for seed in range(a.seed, a.seed + a.runs):
            if time.monotonic() > end or (wrong and not a.go_on):
                break
            said = soak.run(seed)
            wrong += bool(said)
            if said:
                print('seed %d: %s' % (seed, said), flush=True)
    print('from seed %d: %s; %s' % (a.seed, dict(soak.ends), dict(soak.faults)))
    if soak.waits:
        print('regroup-run ended %.1f s after the last survivor in the median, %.1f s at most' %
              (statistics.median(soak.waits), max(soak.waits)))
    return 1 if wrong else 0


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except cluster.Unavailable as why:
        print(why)
        sys.exit(77)

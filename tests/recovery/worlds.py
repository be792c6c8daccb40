# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs worlds.c on pretended nodes with networks of their own, with faults at given moments, and checks
how it ended: by itself, with at most one world, which has the right result; with those nodes lost
that may be, and not more; with a line of each that was given up; with nothing left behind.

What may be lost is a rule about the longest silence. Below SHORT limits (RG_NODE_TIMEOUT) nothing is
lost; what is silent for longer than `surely` says is given up, where a majority remains.
"""
import collections
import os
import re
import signal
import sys
import tempfile
import time

import deaths

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cluster'))
import faults  # noqa: E402
from faults import DAEMON, GUARD, HUB  # noqa: E402

PROGRAM = 'worlds'
SHORT = 0.6
KILLS = 'kill rank', 'kill guard', 'kill daemon', 'power off'
LOSSES = 'lose', 'kill steps', 'take down'  # of nodes, by Slurm: slurm_worlds.py
STOPS = 'stop rank', 'stop guard', 'stop daemon', 'suspend'  # suspend: all processes of a node
CUTS = 'cut path', 'cut node', 'cut halves', 'cut all'
HARMLESS = 'kill rank', 'stop rank', 'stop guard'  # for the node
PROVEN = 'kill guard', 'kill daemon'  # a living host tells of it
OWN_LINE = r'^(?:\[\S+\] )?regroup: .*$'
GIVEN_UP = 75  # the status
FOR_GOOD = None
MASK = 2**64 - 1


def own_lines(text):
    """What the library says of the end of a job, beside the ranks that have died and were survived."""
    return re.findall(OWN_LINE, deaths.SURVIVED.sub('', text), re.M)


class Fault:
    """kind; at: seconds after all have begun; seconds: how long, or FOR_GOOD; nodes: which, of halves
    those of one; which: draws one of several processes; hub: whether it is cut off from mpiexec too."""

    def __init__(self, kind, at, seconds=FOR_GOOD, nodes=(), which=0, hub=False):
        self.kind, self.at, self.seconds = kind, at, seconds
        self.nodes, self.which, self.hub = tuple(nodes), which, hub
        self.began = self.process = None  # when it was done, to which process

    def __str__(self):
        said = '%s %s at %.2f s' % (self.kind, ','.join(map(str, self.nodes)) or '-', self.at)
        if self.kind not in KILLS + LOSSES:
            said += ' for good' if self.seconds is FOR_GOOD else ' for %.2f s' % self.seconds
        return said + ' with mpiexec' * self.hub

    def pairs(self, count):
        """The paths that it cuts."""
        everywhere = range(HUB if self.hub else 0, count)
        if self.kind == 'cut all':
            return faults.all_paths(everywhere)
        if self.kind == 'cut path':
            return faults.path(*self.nodes)
        return faults.between(self.nodes, [n for n in everywhere if n not in self.nodes])

    def prices(self, count, witness):
        """The sets of nodes of which it costs one, if it lasts."""
        if self.kind in HARMLESS:
            return [set()]
        if self.kind == 'cut all':
            return [set(range(count))]
        if self.kind == 'cut path':
            return [{node} for node in self.nodes]
        if self.kind == 'cut halves':
            parts = [set(self.nodes), set(range(count)) - set(self.nodes)]
            if witness and len(parts[0]) == len(parts[1]):
                return parts
            return [min(parts, key=lambda part: (len(part), 0 in part))]
        return [set(self.nodes)]

    def lasts(self, seconds):
        return self.seconds is FOR_GOOD or self.seconds > seconds


class Run:
    """What happens in one run, and what has come of it."""

    def __init__(self, nodes, program, each, limit, seconds, plan, env=(), soon=False):
        self.soon = soon  # whether all is repaired as soon as one world has ended
        self.nodes, self.program, self.each, self.limit = nodes, program, each, limit
        self.count, self.seconds, self.plan = len(nodes.nodes), seconds, plan
        self.np, self.faults = each * len(nodes.nodes), faults.Faults(nodes)
        self.env, self.stopped = dict(env), collections.Counter()
        self.may_hold = True  # whether ranks may live on as long as their daemon is stopped
        self.witness = 'RG_WITNESS' in self.env
        self.hang, self.ends = '', {}  # by rank: rounds, checksum, members, time
        lasting = [f.seconds for f in plan if f.seconds is not FOR_GOOD]
        self.patience = deaths.run_tests.limit(10) + 6 * limit + 3 * sum(lasting)  # TCP may repeat as late as this

    def node_of(self, rank):
        return rank // self.each

    def play(self):
        """Returns what is wrong, or ''."""
        mark, shared = 'RGT_WORLDS=%d-%d' % (os.getpid(), time.monotonic_ns()), deaths.shared_files()
        with tempfile.TemporaryDirectory(prefix='worlds-') as folder, \
                tempfile.TemporaryFile('w+') as output:
            env = dict(deaths.ENV, RG_NODE_TIMEOUT=str(self.limit), RG_OVERSUBSCRIBED='yes',
                       UCX_TCP_KEEPIDLE='600s', UCX_TCP_KEEPINTVL='600s', TMPDIR=folder, **self.env)
            env.update([mark.split('=')])
            words = self.launcher() + [self.program, str(self.seconds), folder]
            self.job = self.nodes.start(words, env, **dict(deaths.READ, stdout=output))
            self.folder = folder
            try:
                self.watch()
            finally:
                self.restore()
                self.end()
            output.seek(0)
            self.text = output.read()
            self.read_ends()
            left = deaths.wait_gone(mark, 1 if self.hang else 10)
            wrong = self.hang or self.judge() or (left and 'left behind: %s' % left) or \
                left_files(folder, shared)
        return wrong and '%d nodes of %d, limit %g s: %s; status %s: %s: %s' % (
            self.count, self.each, self.limit, '; '.join(map(str, self.plan)), self.status, wrong,
            self.text)

    def launcher(self):
        """The beginning of the command."""
        return self.nodes.mpiexec(self.np, self.each) + ['-disable-auto-cleanup']

    # --- while it runs ----------------------------------------------------------------------

    def watch(self):
        deadline = time.monotonic() + deaths.run_tests.limit(20)
        while len([f for f in os.listdir(self.folder) if f.startswith('start-')]) < self.np:
            if self.job.poll() is not None or time.monotonic() > deadline:
                self.hang = 'not all ranks have begun'
                return
            time.sleep(0.01)
        began = time.monotonic()
        events = sorted([(f.at, 0, i) for i, f in enumerate(self.plan)] +
                        [(f.at + f.seconds, 1, i) for i, f in enumerate(self.plan)
                         if f.seconds is not FOR_GOOD])
        for at, is_end, i in events:
            while time.monotonic() < began + at:
                if self.is_decided():
                    return
                time.sleep(min(0.05, max(0, began + at - time.monotonic())))
            (self.undo if is_end else self.do)(self.plan[i])
        self.wait(self.is_decided, began + self.seconds + self.patience)

    def wait(self, what, deadline):
        while not what():
            if time.monotonic() > deadline:
                self.hang = 'HANG: ' + self.living()
                return
            time.sleep(0.05)

    def ranks(self, node):
        return self.faults.named(node, PROGRAM)

    def is_decided(self):
        """All ranks have ended, but for those that cannot, since they or the only daemon that could tell
        is stopped; or, if all is to be repaired soon, those of one world."""
        if self.soon:
            self.read_ends()
        living = [node for node in range(self.count) if self.ranks(node)]
        over = self.soon and self.members() and self.members() <= set(self.ends)
        if over and not {self.node_of(rank) for rank in self.members()} & set(living):
            return True
        return self.job.poll() is not None or all(map(self.is_held, living))

    def is_held(self, node):
        return self.may_hold and any(f.kind in ('stop daemon', 'suspend') and node in f.nodes and
                                     self.stopped[f] for f in self.plan)

    def restore(self):
        """The network is whole and all processes run: then all must end."""
        self.faults.heal()
        for f in self.plan:
            self.undo(f)

    def end(self):
        """mpiexec's status; None: it has not ended."""
        limit = time.monotonic() + (2 if self.hang else self.patience)
        while self.job.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
        self.status = self.job.poll()
        if self.status is None:
            self.hang = self.hang or 'HANG after all was decided: ' + self.living()
            faults.cluster.end(self.job)
        for node in range(self.count):
            if self.hang:
                self.faults.send(signal.SIGKILL, self.faults.everything(node))

    def living(self):
        """For the report of a hang."""
        return ', '.join('node%d: %s %s' % (node, faults.name_of(pid), faults.rank_of(pid))
                         for node in range(self.count) for pid in self.faults.everything(node))

    def victims(self, f):
        if f.kind in ('power off', 'suspend'):
            return self.faults.everything(f.nodes[0])
        name = {'rank': PROGRAM, 'guard': GUARD, 'daemon': DAEMON}[f.kind.split()[1]]
        found = self.faults.named(f.nodes[0], name)
        return [found[f.which % len(found)]] if found else []

    def do(self, f):
        f.began = time.monotonic()
        if f.kind in CUTS:
            f.cut = f.pairs(self.count)
            self.faults.cut(f.cut)
            return
        if f.kind == 'power off':  # its kernel says nothing more to others
            self.faults.cut(faults.alone(f.nodes[0], range(HUB, self.count)))
        f.process = self.victims(f)
        f.ranks = [faults.rank_of(pid) for pid in f.process]
        self.faults.send(signal.SIGSTOP if f.kind in STOPS else signal.SIGKILL, f.process)
        self.stopped[f] = f.kind in STOPS

    def undo(self, f):
        if f.kind in CUTS and f.began and self.faults.cuts:
            self.faults.heal(f.cut)
        if self.stopped[f]:
            self.faults.send(signal.SIGCONT, f.process)
            self.stopped[f] = 0

    # --- afterwards -------------------------------------------------------------------------

    def read_ends(self):
        for name in os.listdir(self.folder):
            if name.startswith('end-'):
                with open(os.path.join(self.folder, name)) as f:
                    words = f.read().split()
                self.ends[int(name[4:])] = int(words[1]), words[2], int(words[3], 16), float(words[4])

    def done(self):
        return [f for f in self.plan if f.began and (f.kind in CUTS or f.process)]

    def members(self):
        """The ranks of the world that has come to the end."""
        bits = next(iter(self.ends.values()))[2] if self.ends else 0
        return {rank for rank in range(self.np) if bits >> rank & 1}

    def killed(self):
        """The ranks that were killed, each by itself or with others."""
        return set().union(*[set(f.ranks) for f in self.done() if f.kind in KILLS + LOSSES])

    def absent(self):
        """The nodes of which no process was in it."""
        return set(range(self.count)) - {self.node_of(rank) for rank in self.members()}

    def lost(self):
        """Those of them that had one that was not killed by itself."""
        alone = set().union(*[f.ranks for f in self.done() if f.kind == 'kill rank'])
        return self.absent() & {self.node_of(rank) for rank in range(self.np) if rank not in alone}

    def is_of_launcher(self):
        """mpiexec has ended the job by a fault of its own: its process on a node was killed, or was
        told of a death and not answered; or it has written to one that had ended."""
        return self.status == -signal.SIGPIPE or self.status == 255 and re.search(r'^\[mpiexec@.* assert .*failed$', self.text, re.M)

    def is_of_killed(self):
        """No world is left: mpiexec prefers the signal of a killed rank to the status of a node that
        was given up."""
        return self.status == signal.SIGKILL and not self.ends and self.killed() and \
            'no process is left' in self.text

    def judge(self):
        return self.judge_worlds() or self.judge_killed() or self.judge_spared() or \
            self.judge_lost() or self.judge_words()

    def judge_worlds(self):
        worlds = {end[:3] for end in self.ends.values()}
        if len(worlds) > 1:
            return 'A SECOND WORLD: %s' % self.ends
        found = re.search(r'^(?:\[\d+\] )?rank \d+, round .*$', self.text, re.M)
        if found:
            return 'WRONG RESULT or error: ' + found[0]
        for rounds, checksum, _ in worlds:
            if int(checksum, 16) != right_checksum(rounds, self.np):
                return 'WRONG RESULT: %s' % self.ends
        return 'ranks of no world have ended' if set(self.ends) - self.members() else ''

    def judge_killed(self):
        """A rank that was killed in time is no member."""
        finish = min([end[3] for end in self.ends.values()], default=0)
        for f in self.done():
            dead = set(f.ranks) - {None} if f.kind in KILLS and f.kind in HARMLESS else set()
            if f.began < finish - 1 and dead & self.members():
                return 'killed, and a member: %s' % dead
        return ''

    def costs(self, fault):
        """All nodes that it may cost."""
        return set().union(*fault.prices(self.count, self.witness))

    def lasting(self):
        """The faults that may cost a node. Short ones that overlap may be one long silence."""
        timed = [f for f in self.done() if f.kind not in KILLS + LOSSES and f.kind not in HARMLESS]
        total = sum(f.seconds for f in timed if f.seconds is not FOR_GOOD)
        return [f for f in self.done() if self.costs(f) and
                (f.kind in KILLS + LOSSES or f.lasts(SHORT * self.limit) or
                 (len(timed) > 1 and total > SHORT * self.limit))]

    def must_live(self):
        """The nodes that nothing may cost."""
        lasting = self.lasting()
        touched = set().union(*map(self.costs, lasting))
        rest = set(range(self.count)) - touched
        # A host that refuses proves nothing to a node that it has not heard for half the limit.
        apart = any(f.kind in CUTS and f.lasts(0.4 * self.limit) for f in self.done())
        proven = not apart and all(f.kind in PROVEN for f in lasting)
        lowest = 2 * len(rest) == self.count and 0 in rest and not self.witness
        return rest if proven or lowest or 2 * len(rest) > self.count else set()

    def judge_spared(self):
        needed = {rank for rank in range(self.np)
                  if self.node_of(rank) in self.must_live()} - self.killed()
        if needed - self.members() - set(self.ends):
            if self.is_of_launcher() and any(f.kind in PROVEN for f in self.lasting()):
                return ''
            return 'LOST without need: ranks %s, there are %s' % (sorted(needed), self.ends)
        if needed - set(self.ends):
            return 'NO END of ranks %s' % sorted(needed - set(self.ends))
        return ''

    def surely(self):
        """Silence for so long costs a node."""
        return 2.5 * self.limit + 2

    def judge_lost(self):
        """What a single fault must have cost."""
        if len(self.done()) != 1 or not self.ends:
            return ''
        fault, finish = self.done()[0], min(end[3] for end in self.ends.values())
        if finish < fault.began + 1 or not (fault.kind in KILLS + LOSSES or fault.lasts(self.surely())):
            return ''
        right = self.lost() in fault.prices(self.count, self.witness)
        return '' if right else 'another loss than that: %s' % self.lost()

    def judge_words(self):
        """One line of each node that was given up, or of a job that was ended, and a status."""
        silent = {n for f in self.done() if f.kind in ('power off', *PROVEN) for n in f.nodes}
        speaks = self.lost() - silent
        lines = own_lines(self.text)
        if self.lost() and not self.status:
            return 'status 0'
        if speaks and not self.is_of_launcher() and not lines:
            return 'no line on standard error'
        if len(lines) > len(self.absent()):
            return 'more lines than nodes that were lost'
        if speaks and not silent and self.status != GIVEN_UP and \
                not self.is_of_launcher() and not self.is_of_killed():
            return 'another status than %d' % GIVEN_UP
        if not self.absent() and self.status and not lines and not self.is_of_launcher():
            return 'status, though no node was lost'
        return ''


def mix(x):
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK
    return x ^ (x >> 31)


def right_checksum(rounds, np):
    return sum(mix(r * 64 + rank) for r in range(rounds) for rank in range(np)) & MASK


def left_files(folder, before):
    """What is there besides the program's own files, or ''."""
    files = [f for f in os.listdir(folder) if not re.match(r'\.?(start|end)-', f)]
    new = {p for p in deaths.shared_files() - before if not deaths.is_mpich_start(p)}
    for _ in range(10):  # a job of another test may be about to use it
        new = deaths.unused(new) & deaths.shared_files() if new else new
        if new:
            time.sleep(0.2)
    return 'left behind: %s %s' % (files, sorted(new)) if files or new else ''

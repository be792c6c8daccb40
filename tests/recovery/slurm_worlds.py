# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs worlds.c on nodes of Slurm, with faults at given moments, and checks how it ended: worlds.py says
what is right. Slurm adds faults of its own: a node that is lost with all that is on it, one whose
job step is killed while the node lives, one that the administrator takes down.

srun waits until Slurm takes a lost node for DOWN, which by default is minutes after the survivors have
ended. Here the administrator says so as soon as they have.
"""
import os
import sys
import time

import worlds
from worlds import LOSSES

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cluster'))
import faults  # noqa: E402
import slurm  # noqa: E402

KILLED = 128 + 9
# srun's status: the highest of all tasks that it has heard of.
STATUS = {'kill rank': [0], 'kill guard': [KILLED], 'kill daemon': [KILLED], 'kill steps': [0],
          'lose': [0], 'power off': [0], 'take down': [0, KILLED]}


class Fault(worlds.Fault):
    def prices(self, count, witness):
        """Slurm does not end a node's other ranks when a guard is killed."""
        return [set()] if self.kind == 'kill guard' else super().prices(count, witness)

    def is_silent(self):
        """srun does not hear of it."""
        return self.kind in ('lose', 'kill steps', 'power off') or self.hub


class Run(worlds.Run):
    command = []  # that has the allocation: of srun itself, if it is empty

    def launcher(self):
        return self.command + self.nodes.srun(self.np, self.each)

    def do(self, f):
        if f.kind not in LOSSES:
            super().do(f)
            return
        how = {'lose': self.nodes.lose, 'kill steps': self.nodes.kill_steps,
               'take down': self.nodes.take_down}
        f.began, f.process = time.monotonic(), self.ranks(f.nodes[0])
        f.ranks = [faults.rank_of(pid) for pid in f.process]
        how[f.kind](f.nodes[0])

    def restore(self):
        """Nothing that was lost comes back. The survivors have ended: srun hears what it waits for."""
        for f in self.done():
            if f.is_silent():
                self.nodes.take_down(f.nodes[0])

    def judge(self):
        return super().judge() or self.judge_memory()

    def judge_words(self):
        """One line at most of each lost node; the status, if there was one fault."""
        lines = worlds.own_lines(self.text)
        if len(lines) > len(self.absent()):
            return 'more lines than nodes that were lost'
        if len(self.done()) != 1:
            return ''
        f = self.done()[0]
        right = STATUS.get(f.kind, [0 if f.hub else worlds.GIVEN_UP])
        if f.kind != 'kill rank' and 0 in right:
            right = [*right, *slurm.NODE_FAILED]
        return '' if self.status in right else 'another status than %s' % right

    def judge_memory(self):
        """Shared memory of the nodes that live."""
        for node in set(range(self.count)) - self.absent():
            left = self.nodes.shared_files(node)
            if left:
                return 'left behind in node%d: %s' % (node, left)
        return ''

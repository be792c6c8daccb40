# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Faults of pretended nodes (cluster.py): paths between them that are cut, processes of a node that
are stopped or killed.

    faults = Faults(nodes)                     # with network=True, if paths are to be cut
    faults.cut(path(0, 1))                     # between two nodes
    faults.cut(alone(2, [0, 1, HUB]))          # one node from all others, and from mpiexec
    faults.heal(path(0, 1))
    faults.send(signal.SIGSTOP, faults.named(1, DAEMON))

A path that is cut drops each packet in silence: neither side gets an error, and no local device
changes. Each side of the path has a wrong hardware address of the other one for that. A path that
was cut twice is whole again when it has been healed twice.
"""
import collections
import itertools
import os
import subprocess

import cluster

HUB = -1  # where mpiexec runs
GUARD, DAEMON = 'regroup-guard', 'regroup-noded'  # the names of processes
NOBODY = '02:00:00:00:77:ff'  # a hardware address


def path(a, b):
    return [(min(a, b), max(a, b))]


def between(left, right):
    """All paths from one of the left to one of the right."""
    return [pair for a in left for b in right for pair in path(a, b)]


def alone(node, others):
    return between([node], [other for other in others if other != node])


def all_paths(nodes):
    return [pair for a, b in itertools.combinations(nodes, 2) for pair in path(a, b)]


def name_of(pid):
    """None: it has ended."""
    try:
        with open('/proc/%d/stat' % pid) as f:
            name, rest = f.read().split('(', 1)[1].rsplit(')', 1)
    except (OSError, IndexError):
        return None
    return None if rest.split()[0] in 'ZX' else name


def rank_of(pid):
    """In the job; None: it is no rank, or has ended."""
    try:
        with open('/proc/%d/environ' % pid, 'rb') as f:
            found = [v for v in f.read().split(b'\0') if v.startswith(b'PMI_RANK=')]
    except OSError:
        return None
    return int(found[0].split(b'=')[1]) if found else None


class Faults:
    def __init__(self, nodes):
        self.nodes = nodes
        self.cuts = collections.Counter()  # by pairs of nodes

    def cut(self, pairs):
        self._change({pair for pair in pairs if not self.cuts[pair]}, NOBODY)
        self.cuts.update(pairs)

    def heal(self, pairs=None):
        """All that are cut, if not told which."""
        self.cuts -= collections.Counter(self.cuts if pairs is None else pairs)
        whole = set(all_paths(range(HUB, len(self.nodes.nodes)))) - set(self.cuts)
        self._change(whole if pairs is None else whole & set(pairs), None)

    def _change(self, pairs, hardware):
        """At all nodes at the same time, or nearly. hardware None: the true one."""
        lines = collections.defaultdict(str)
        for pair in pairs:
            for here, there in (pair, pair[::-1]):
                number = 254 if there == HUB else there + 1
                lines[here] += 'neigh replace %s lladdr %s dev %s nud permanent\n' % (
                    cluster.ADDRESS % number, hardware or cluster.HARDWARE % number,
                    'rg0' if here == HUB else 'eth0')
        running = [(self._ip(here), text) for here, text in lines.items()]
        for process, text in running:
            process.stdin.write(text)
            process.stdin.close()
        for process, text in running:
            said = process.stdout.read()
            if process.wait():
                raise cluster.Unavailable('no faults of the network here: %s' % said.strip())

    def _ip(self, node):
        """A process that reads commands in the node's network."""
        enter = [] if node == HUB else [cluster.tool('nsenter'), '--target',
                                        str(self.nodes.nodes[node].pid), '--net', '--']
        return subprocess.Popen([*self.nodes.enter, *enter, cluster.tool('ip'), '-batch', '-'],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def named(self, node, name):
        """The processes of that name in a node."""
        return sorted(pid for pid in self.nodes.processes([node]) if name_of(pid) == name)

    def everything(self, node):
        return self.nodes.processes([node])

    @staticmethod
    def send(sign, pids):
        """Returns how many of them lived."""
        living = 0
        for pid in pids:
            try:
                os.kill(pid, sign)
                living += 1
            except ProcessLookupError:
                pass
        return living

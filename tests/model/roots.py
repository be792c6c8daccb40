# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of the roots of an agreement (pgroup/noded/consensus/agreement.c): nodes are lost, each at any
moment, others learn of it at any time, and a node below which all are lost takes over. Messages come at any
time and in any order; those of a lost node may never come. A root that may decide anew decides its own
number: so two decisions differ unless one is taken over.

All nodes that live have the same decision, and from each state the nodes' own steps lead to the end."""

NONE = -1


def put(values, i, value):
    return values[:i] + (value,) + values[i + 1:]


class Roots:
    """The search's model. A state is (nodes, promises, decisions, kills left). A node is None when it is lost,
    else (those that it knows to be lost, promised ballot, accepted ballot, value, taken ballot, taken value,
    those that have promised it or None). Promises are messages (root, node, accepted ballot, value), decisions
    are (ballot, value). `fault` names what is left out."""

    outside = frozenset(['kill'])

    def __init__(self, n, kills, rules, fault=None):
        self.n, self.kills, self.rules, self.fault = n, kills, rules, fault

    def initial(self):
        return ((0, 0, NONE, NONE, NONE, NONE, None),) * self.n, frozenset(), frozenset(), self.kills

    def violation(self, state):
        values = {node[3] for node in state[0] if node} - {NONE}
        return 'two decisions: %s' % sorted(values) if len(values) > 1 else None

    def good(self, state):
        return all(node is None or node[2] != NONE for node in state[0])

    def steps(self, state):
        nodes, promises, decisions, kills = state
        for i, node in enumerate(nodes):
            if not node:
                continue
            if kills:
                kept = frozenset(p for p in promises if p[0] != i)
                yield ('kill', i), (put(nodes, i, None), kept, decisions, kills - 1)
            for k in range(self.n):
                if not nodes[k] and not node[0] >> k & 1:
                    yield ('learn', i, 'of', k), (put(nodes, i, (node[0] | 1 << k,) + node[1:]),) + state[1:]
            for ballot, value in decisions:
                if node[2] < ballot != i and self.rules.accept(node[1], ballot):
                    yield ('accept', i, ballot, value), (
                        put(nodes, i, (node[0], max(ballot, node[1]), ballot, value) + node[4:]),) + state[1:]
            for label, after in self.root_steps(state, i, node):
                yield label, after

    def root_steps(self, state, i, node):
        """Of a node below which all are lost, as far as it knows."""
        nodes, promises, decisions, kills = state
        if node[0] & (1 << i) - 1 != (1 << i) - 1 or node[2] == i:
            return
        if node[2] != NONE:
            yield self.decide(state, i, node, node[3])
        elif i and node[6] is None:
            yield ('prepare', i), (put(nodes, i, (node[0], i) + node[2:6] + (0,)),) + state[1:]
        else:
            asked = 0 if i == 0 or self.fault == 'nobody asked' else (1 << self.n) - 1 & ~node[0] & ~(1 << i)
            if not asked & ~(node[6] or 0):
                yield self.decide(state, i, node, i if node[4] == NONE else node[5])
            for k, other in enumerate(nodes):
                if i and other and k != i and not node[0] >> k & 1 and other[1] != i \
                        and self.rules.promise(other[1], i):
                    yield ('promise', k, 'to', i), (
                        put(nodes, k, (other[0], i) + other[2:]), promises | {(i, k) + other[2:4]}) + state[2:]
            for promise in promises:
                if promise[0] == i:
                    _, k, accepted, value = promise
                    taken = (accepted, value) if self.rules.take(node[4], accepted) else node[4:6]
                    yield ('promised', i, 'by', k), (
                        put(nodes, i, node[:4] + taken + (node[6] | 1 << k,)), promises - {promise}) + state[2:]

    @staticmethod
    def decide(state, i, node, value):
        """At a root that has a decision already this is the one."""
        return ('decide', i, value), (put(state[0], i, (node[0], i, i, value, NONE, NONE, None)), state[1],
                                      state[2] | {(i, value)}, state[3])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What membership costs at scale: messages and time on the overlay of the node daemons, by events.

A node has links with those at distances 1, 2, 4, .. in both directions. A message takes HOP on its
way, and its receiver works on its messages one after the other, PROCESS each; sending costs
nothing. A fact is flooded: each node sends it on all its links but the one it came by, once.
Messages of a ballot go directly where there is a link, else they are flooded too (relayed).

usage: scale.py [--nodes 1250] [--ranks 8]
"""
import argparse
import heapq

HOP, PROCESS = 50e-6, 5e-6  # seconds


def links_of(node, n):
    """The nodes with which a node has a link."""
    found, distance = set(), 1
    while distance < n:
        found.update(((node + distance) % n, (node - distance) % n))
        distance *= 2
    return sorted(found - {node})


class Network:
    """Delivers messages in the order of their times. handle(node, sender, content) is called when
    a node has worked on a message; it sends by send()."""

    def __init__(self, n, dead=()):
        self.n, self.dead = n, frozenset(dead)
        self.links = [[x for x in links_of(i, n) if x not in self.dead] for i in range(n)]
        self.queue, self.free, self.now, self.messages = [], [0.0] * n, 0.0, 0

    def send(self, sender, receiver, content, after=0.0):
        self.messages += 1
        heapq.heappush(self.queue, (self.now + after + HOP, self.messages, receiver, sender, content))

    def run(self, handle):
        """Returns when the last message was worked on."""
        done = 0.0
        while self.queue:
            arrival, _, receiver, sender, content = heapq.heappop(self.queue)
            self.now = max(arrival, self.free[receiver]) + PROCESS
            self.free[receiver] = self.now
            done = max(done, self.now)
            handle(receiver, sender, content)
        return done


def flood(n, origins, dead=()):
    """A fact that some nodes learn at the same time. Returns messages, the time at which the last
    node knows it, and the nodes that do."""
    net = Network(n, dead)
    known = {}

    def learn(node, sender, when):
        if node not in known:
            known[node] = when
            for x in net.links[node]:
                if x != sender:
                    net.send(node, x, None)

    for node in origins:
        learn(node, None, 0.0)
    net.run(lambda node, sender, _: learn(node, sender, net.now))
    return net.messages, max(known.values()), len(known)


def ballot(n, dead=()):
    """A membership decision by the lowest node with relayed messages: PREPARE and ACCEPT are one
    flood each, which all nodes read; PROMISE and ACCEPTED go back on the way by which these came.
    Then the decision is flooded. Returns messages and the time until the last node knows it."""
    net = Network(n, dead)
    root = next(i for i in range(n) if i not in net.dead)
    voters = n - len(net.dead)
    way, answers, told = {}, {'promise': 0, 'accepted': 0}, {}
    phases = {'prepare': 'promise', 'accept': 'accepted'}
    following = {'promise': 'accept', 'accepted': 'membership'}

    def spread(node, sender, kind):
        if (node, kind) in way:
            return
        way[node, kind] = sender
        for x in net.links[node]:
            if x != sender:
                net.send(node, x, kind)
        if kind == 'membership':
            told[node] = net.now
        else:
            answer(node, phases[kind])

    def answer(node, kind):
        if node != root:
            net.send(node, way[node, 'prepare' if kind == 'promise' else 'accept'], kind)
            return
        answers[kind] += 1
        if answers[kind] == voters:
            spread(root, None, following[kind])

    def handle(node, sender, kind):
        if kind in answers:
            answer(node, kind)
        else:
            spread(node, sender, kind)

    spread(root, None, 'prepare')
    net.run(handle)
    return net.messages, max(told.values())


def agreement(n):
    """An agreement on a binary tree over the nodes: gathered up, the decision sent down."""
    net = Network(n)
    missing = [sum(c < n for c in (2 * i + 1, 2 * i + 2)) for i in range(n)]
    known = {}

    def rise(node):
        if node == 0:
            sink(0)
        else:
            net.send(node, (node - 1) // 2, 'up')

    def sink(node):
        known[node] = net.now
        for child in (2 * node + 1, 2 * node + 2):
            if child < n:
                net.send(node, child, 'down')

    def handle(node, _, kind):
        if kind == 'down':
            sink(node)
            return
        missing[node] -= 1
        if not missing[node]:
            rise(node)

    for i in range(n):
        if not missing[i]:
            rise(i)
    net.run(handle)
    return net.messages, max(known.values())


def new_root(n):
    """A root of agreements is lost: the next one asks each other node and has each answer, sends
    its proposal and has each answer, and sends each the decision. Each message goes directly."""
    messages = 5 * (n - 2)
    return messages, 2 * (2 * HOP + PROCESS) + 2 * (n - 2) * PROCESS + HOP + PROCESS


def ballot_one_by_one(n):
    """Messages of a ballot whose four kinds of messages are each relayed to one node at a time: a
    flood for each node without a link to the coordinator. Why they are spread as ballot() does."""
    each = sum(len(links_of(i, n)) for i in range(n)) - (n - 1)
    near = len(links_of(0, n))
    return 4 * (near + (n - 1 - near) * each) + each


def idle(n):
    """Pings that a daemon sends in a period, when all is well: to its neighbours only, whether it has
    coordinated a ballot before or not."""
    return len(links_of(0, n))


def ballot_connections(n):
    """Connections that the coordinator of a ballot makes, and that are closed when it is over."""
    return n - 1 - len(links_of(0, n))


def report(n, ranks):
    links = len(links_of(0, n))
    print('%d nodes, %d ranks, %d links a node' % (n, n * ranks, links))
    messages, seconds, _ = flood(n, [0])
    print('death of a rank       %8d messages, %5.1f a node, %8.3f ms' % (messages, messages / n, 1e3 * seconds))
    messages, seconds = agreement(n)
    print('agreement             %8d messages, %5.1f a node, %8.3f ms' % (messages, messages / n, 1e3 * seconds))
    lost = n // 2
    witnesses = links_of(lost, n)
    facts, known, _ = flood(n, witnesses[:1], [lost])
    print('  one fact of its loss %7d messages, by each of its %d neighbours %d' % (
        facts, len(witnesses), facts * len(witnesses)))
    messages, seconds = ballot(n, [lost])
    print('  its ballot           %7d messages, %5.1f a node, %8.3f ms; each relayed by itself: %d messages' % (
        messages, messages / n, 1e3 * seconds, ballot_one_by_one(n)))
    messages, seconds = messages + facts, seconds + known
    print('loss of a node        %8d messages, %5.1f a node, %8.3f ms after it is noticed' % (
        messages, messages / n, 1e3 * seconds))
    print('  its connections      %7d made and closed by the coordinator; pings of an idle daemon %d' % (
        ballot_connections(n), idle(n)))
    more, longer = new_root(n)
    print('loss of a root        %8d messages, %5.1f a node, %8.3f ms after it is noticed' % (
        messages + more, (messages + more) / n, 1e3 * (seconds + longer)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nodes', type=int, default=1250)
    parser.add_argument('--ranks', type=int, default=8, help='of each node')
    options = parser.parse_args()
    report(options.nodes, options.ranks)


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of membership in which any message takes any time (AnyTiming): never two worlds."""
from membership import ACCEPTING, DEAD, DONE, NOBODY, PREPARING, RUNNING, Rules, members, rank_values


class AnyTiming:
    """Safety. Each message is delivered at any time or never, which holds for delays, cuts, stops
    and lost machines too; a coordinator takes any node that has not promised for silent.

    A state is (nodes, ballots, claims, kills left). A node is (life, decisions, promised ballot,
    accepted ballot, accepted set, closed), where decisions are the removed sets of number 0, 1, ..
    and closed are the dead nodes whose links it has closed. A ballot is (number, ballot,
    coordinator, PREPARING, promises) with one (accepted ballot, accepted set) or None for each
    node, or (number, ballot, coordinator, ACCEPTING, removed, quorum, gone, accepted)."""

    outside = frozenset(['kill'])

    def __init__(self, n, kills, rules=None, victims=True, finish=True, ballots=None, single=False):
        """single: only the first decision is made, and nobody learns it: more nodes can be searched.
        Where the lowest node has no part in it either, since the nodes are odd in number or have a
        witness, states that differ in the order of the nodes only are one."""
        self.n, self.kills, self.rules = n, kills, rules or Rules()
        self.victims, self.finish, self.most = victims, finish and not single, ballots
        self.single, self.alike = single, single and (n % 2 or self.rules.witness)
        self.all = (1 << n) - 1

    def initial(self):
        left = -1 if self.most is None else self.most
        return (((RUNNING, (), 0, 0, 0, 0),) * self.n, (), (0,) * self.n, self.kills, left)

    def present(self, decisions):
        mask = self.all
        for removed in decisions:
            mask &= ~removed
        return mask

    # --- steps -----------------------------------------------------------------------------------

    def steps(self, state):
        found = []
        nodes, ballots, _, kills, left = state
        for i, node in enumerate(nodes):
            if node[0] == RUNNING:
                if kills:
                    found.append((('kill', i), self.canonical(self.with_node(nodes, i, (DEAD,) + node[1:]),
                                                              ballots, state[2], kills - 1, left)))
                if left and not (self.single and node[1]):
                    self.add_starts(found, state, i)
                if not self.single:
                    self.add_learning(found, state, i)
        if self.finish:
            self.add_finish(found, state)
        for ballot in ballots:
            if ballot[3] == PREPARING:
                self.add_promises(found, state, ballot)
                self.add_closes(found, state, ballot)
            else:
                self.add_accepts(found, state, ballot)
                self.add_decision(found, state, ballot)
        return found

    @staticmethod
    def with_node(nodes, i, node):
        return nodes[:i] + (node,) + nodes[i + 1:]

    @staticmethod
    def with_ballot(ballots, old, new):
        return tuple(new if b is old else b for b in ballots)

    def add_starts(self, found, state, i):
        """A node begins a ballot: higher than all that it has promised, between any others."""
        nodes, ballots, claims, kills, left = state
        node = nodes[i]
        number = len(node[1])
        if self.present(node[1]) == 1 << i:
            return
        for b in ballots:
            if b[2] == i and b[0] == number and b[3] == PREPARING:
                return
        used = set()
        for other in nodes:
            if other[0] == RUNNING and len(other[1]) == number:
                used.update((other[2], other[3]))
        used.update(b[1] for b in ballots if b[0] == number)
        above = sorted(v for v in used if v > node[2])
        for value in [node[2] + 0.5] + [v + 0.5 for v in above]:
            promises = tuple((node[3], node[4]) if k == i else None for k in range(self.n))
            after = self.with_node(nodes, i, node[:2] + (value,) + node[3:])
            found.append((('start', i, value), self.canonical(
                after, ballots + ((number, value, i, PREPARING, promises),), claims, kills, left - (left > 0))))

    def add_learning(self, found, state, i):
        """A decision reaches a node from one that knows it, also from one that has died since."""
        nodes, ballots, claims, kills, left = state
        node = nodes[i]
        number, told = len(node[1]), set()
        for x, other in enumerate(nodes):
            if len(other[1]) <= number or other[1][:number] != node[1] or node[5] >> x & 1:
                continue
            removed = other[1][number]
            if removed in told:
                continue
            told.add(removed)
            found.append((('learn', i, 'from', x, members(removed)), self.canonical(
                self.with_node(nodes, i, self.decided(node, i, removed)), ballots, claims, kills, left)))

    @staticmethod
    def decided(node, i, removed):
        """A node that knows the next decision. Closed is reset where it no longer matters."""
        life = DEAD if removed >> i & 1 else RUNNING
        return (life, node[1] + (removed,), 0, 0, 0, node[5])

    def add_finish(self, found, state):
        """All present nodes of one world come to the end of the job. They leave only when those
        that were removed have ended, or so late that a refusal by them is no proof any more."""
        nodes, ballots, claims, kills, left = state
        for node in nodes:
            if node[0] != RUNNING or not node[1]:
                continue
            mask = self.present(node[1])
            if all(nodes[k][0] == RUNNING and nodes[k][1] == node[1] for k in members(mask)):
                after = tuple((DONE, o[1], 0, 0, 0, 0) if mask >> k & 1 else o for k, o in enumerate(nodes))
                found.append((('finish', members(mask)), self.canonical(after, ballots, claims, kills, left)))
                return

    def add_promises(self, found, state, ballot):
        nodes, ballots, claims, kills, left = state
        number, value, c, _, promises = ballot
        if nodes[c][0] != RUNNING:
            return
        for i in members(self.present(nodes[c][1])):
            node = nodes[i]
            if node[0] != RUNNING or len(node[1]) != number or node[2] == value:
                continue
            if not self.rules.promise(node[2], value):
                continue
            given = promises[:i] + ((node[3], node[4]),) + promises[i + 1:]
            after = self.with_node(nodes, i, node[:2] + (value,) + node[3:])
            found.append((('promise', i, 'to', c), self.canonical(
                after, self.with_ballot(ballots, ballot, ballot[:4] + (given,)), claims, kills, left)))

    def closed_ports(self, nodes):
        """The nodes whose port refuses: a refusal is a proof of these only."""
        lives = (DEAD, DONE) if 'finished_is_gone' in self.rules.broken else (DEAD,)
        return sum(1 << k for k, o in enumerate(nodes) if o[0] in lives)

    def add_closes(self, found, state, ballot):
        """The coordinator takes some of the promises for all that have come in."""
        nodes, ballots, claims, kills, left = state
        number, value, c, _, promises = ballot
        if nodes[c][0] != RUNNING or len(nodes[c][1]) != number or nodes[c][2] != value:
            return
        present, ports = self.present(nodes[c][1]), self.closed_ports(nodes)
        arrived = sum(1 << k for k, p in enumerate(promises) if p is not None)
        rest = arrived & ~(1 << c)
        part = rest
        while True:
            quorum = part | 1 << c
            self.add_close(found, state, ballot, (present, quorum, ports & present & ~quorum))
            if not part:
                break
            part = (part - 1) & rest

    def add_close(self, found, state, ballot, round_):
        nodes, ballots, claims, kills, left = state
        number, value, c, _, promises = ballot
        present, quorum, gone = round_
        claim = claims[number]
        if self.rules.witness and not claim and 2 * bin(quorum).count('1') == bin(present).count('1'):
            claim = 1 << c
        if not self.rules.is_quorum(present, quorum, gone, claim):
            return
        if present & ~quorum & ~gone:
            claims = claims[:number] + (claim,) + claims[number + 1:]
        carried = (0, 0)
        for k in members(quorum):
            if self.rules.take(carried[0], promises[k][0]):
                carried = promises[k]
        missing = present & ~quorum
        victims = [0] + ([1 << k for k in members(quorum)] if self.victims and quorum & (quorum - 1) else [])
        for removed in {self.rules.set_to_propose(missing | v, carried, present, quorum, gone) for v in victims}:
            if not removed:
                continue
            closed = gone if 'dead_still_heard' not in self.rules.broken else 0
            node = nodes[c]
            after = self.with_node(nodes, c, node[:3] + (value, removed, node[5] | closed))
            found.append((('accept', c, 'proposes', members(removed), 'with', members(quorum)), self.canonical(
                after, self.with_ballot(ballots, ballot, (number, value, c, ACCEPTING, removed, quorum, closed,
                                                          1 << c)), claims, kills, left)))

    def add_accepts(self, found, state, ballot):
        nodes, ballots, claims, kills, left = state
        number, value, c, _, removed, quorum, gone, accepted = ballot
        for i in members(quorum & ~accepted):
            node = nodes[i]
            if not self.may_accept(node, number, value):
                continue
            after = self.with_node(nodes, i, node[:2] + (max(value, node[2]), value, removed, node[5] | gone))
            found.append((('accepted', i, 'of', c, members(removed)), self.canonical(
                after, self.with_ballot(ballots, ballot, ballot[:7] + (accepted | 1 << i,)), claims, kills, left)))

    def may_accept(self, node, number, value):
        return node[0] == RUNNING and len(node[1]) == number and self.rules.accept(node[2], value)

    def is_led(self, nodes, ballot):
        """Whether the coordinator still leads the ballot: who promises higher gives its own up."""
        node = nodes[ballot[2]]
        return ballot[2] != NOBODY and node[0] == RUNNING and len(node[1]) == ballot[0] and (
            node[2] == ballot[1] or 'lower_accepted' in self.rules.broken)

    def add_decision(self, found, state, ballot):
        nodes, ballots, claims, kills, left = state
        number, value, c, _, removed, quorum, _, accepted = ballot
        if accepted == quorum and self.is_led(nodes, ballot):
            after = self.with_node(nodes, c, self.decided(nodes[c], c, removed))
            found.append((('decide', c, members(removed)), self.canonical(after, ballots, claims, kills, left)))

    # --- states that differ in nothing that matters are one ----------------------------------------

    def canonical(self, nodes, ballots, claims, kills, left):
        nodes = self.forget_dead(nodes)
        kept = []
        for b in ballots:
            b = self.shortened(nodes, b)
            if b:
                kept.append(b)
        numbers = {len(o[1]) for o in nodes if o[0] == RUNNING}
        claims = tuple(v if k in numbers else 0 for k, v in enumerate(claims))
        for number in numbers:
            nodes, kept = self.renumber(nodes, kept, number)
        kept = tuple(sorted(kept, key=lambda b: (b[0], b[1], b[2])))
        if self.alike:
            nodes, kept, claims = self.in_order(nodes, kept, claims)
        return (nodes, kept, claims, kills, left)

    def in_order(self, nodes, ballots, claims):
        """The same state with its nodes in an order of what befell them."""
        def history(i):
            given = []
            for b in ballots:
                given += [b[2] == i, b[4][i] is not None if b[3] == PREPARING else tuple(
                    mask >> i & 1 for mask in b[4:8])]
            node = nodes[i]
            return node[:1] + (len(node[1]),) + node[2:4] + tuple(given) + (
                sum(o[4] >> i & 1 for o in nodes), sum(m >> i & 1 for o in nodes for m in o[1]))

        order = sorted(range(self.n), key=history)
        if order == list(range(self.n)):
            return nodes, ballots, claims

        def moved(mask):
            return sum(1 << k for k, i in enumerate(order) if mask >> i & 1)

        def ballot(b):
            c = b[2] if b[2] == NOBODY else order.index(b[2])
            if b[3] == PREPARING:
                promises = tuple(b[4][i] and (b[4][i][0], moved(b[4][i][1])) for i in order)
                return b[:2] + (c, PREPARING, promises)
            return b[:2] + (c, ACCEPTING) + tuple(map(moved, b[4:]))

        after = tuple(o[:1] + (tuple(map(moved, o[1])),) + o[2:4] + tuple(map(moved, o[4:])) for o in (
            nodes[i] for i in order))
        return after, tuple(map(ballot, ballots)), tuple(map(moved, claims))

    @staticmethod
    def forget_dead(nodes):
        """Of a dead node only decisions count that it may have sent and that somebody may adopt."""
        heard_of = 0
        for x, o in enumerate(nodes):
            if o[0] == DEAD and any(y[0] == RUNNING and len(y[1]) < len(o[1]) and not y[5] >> x & 1
                                    and o[1][:len(y[1])] == y[1] for y in nodes):
                heard_of |= 1 << x
        after = []
        for x, o in enumerate(nodes):
            if o[0] == DEAD:
                after.append((DEAD, o[1] if heard_of >> x & 1 else (), 0, 0, 0, 0))
            elif o[0] == RUNNING:
                after.append(o[:5] + (o[5] & heard_of,))
            else:
                after.append(o)
        return tuple(after)

    def shortened(self, nodes, b):
        """A ballot without what nobody will read; None if it is over."""
        if b[3] == PREPARING:
            node = nodes[b[2]]
            return b if node[0] == RUNNING and len(node[1]) == b[0] and node[2] == b[1] else None
        may = sum(1 << k for k in members(b[5] & ~b[7]) if self.may_accept(nodes[k], b[0], b[1]))
        if self.is_led(nodes, b) and b[7] | may == b[5]:
            return b
        return b[:2] + (NOBODY, ACCEPTING, b[4], may, b[6], 0) if may else None

    def renumber(self, nodes, ballots, number):
        values = []
        for o in nodes:
            if o[0] == RUNNING and len(o[1]) == number:
                values += [o[2], o[3]]
        for b in ballots:
            if b[0] == number:
                values.append(b[1])
                if b[3] == PREPARING:
                    values += [p[0] for p in b[4] if p]
        rank = rank_values(values)
        if all(k == v for k, v in rank.items()):
            return nodes, ballots
        nodes = tuple(o[:2] + (rank[o[2]], rank[o[3]]) + o[4:]
                      if o[0] == RUNNING and len(o[1]) == number else o for o in nodes)
        after = []
        for b in ballots:
            if b[0] == number:
                b = (number, rank[b[1]]) + b[2:]
                if b[3] == PREPARING:
                    b = b[:4] + (tuple(p and (rank[p[0]], p[1]) for p in b[4]),)
            after.append(b)
        return nodes, after

    # --- the property ------------------------------------------------------------------------------

    def violation(self, state):
        """Never two worlds: two that go on do not differ in a decision."""
        alive = [(k, o) for k, o in enumerate(state[0]) if o[0] != DEAD]
        for k, (i, a) in enumerate(alive):
            for j, b in alive[k + 1:]:
                both = min(len(a[1]), len(b[1]))
                if a[1][:both] != b[1][:both]:
                    return 'two worlds: node %d has decided %s, node %d %s' % (
                        i, [members(r) for r in a[1]], j, [members(r) for r in b[1]])
        return None

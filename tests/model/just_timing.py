# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of membership in which a node takes another for silent only when it has been out of
reach (JustTiming): no healthy node is lost by another's fault, and there is always an end."""
from membership import (ACCEPTING, DEAD, ENDED, PART, PREPARING, RUNNING, STOPPED, WAITING, members, rank_values)
from network import SUSPECT, UP, Network


class JustTiming(Network):
    """Fairness and ends. Paths are cut and heal, daemons are killed, stop (a lost machine is one
    that never continues) and continue. A node holds another for silent only when it has been out
    of reach, and by then all that can be delivered has been.

    A state is (nodes, paths, rejecting, views, cuts, refused, ballots, faults left, faulty, problem).
    A node is (life, decisions, promised ballot, accepted ballot, accepted set). Paths, rejecting
    and cuts are sets of pairs; views[a * n + x] is UP, SUSPECT or SILENT; refused are the nodes
    whose port is known to refuse. A ballot is (number, ballot, coordinator, phase, promisers,
    nodes to which a promiser's link is up, nodes that a promiser has heard, carried, removed,
    accepted). Faulty are the nodes that have been off every majority, or stopped, for the limit
    and since have not been heard by all."""

    outside = frozenset(['kill', 'stop', 'continue', 'cut', 'cut off', 'halves', 'heal', 'reject'])

    def initial(self):
        every = (1 << len(self.pairs)) - 1
        return (((RUNNING, (), 0, 0, 0),) * self.n, every, 0, (UP,) * (self.n * self.n), 0, 0, (),
                self.faults, 0, None)

    # --- steps -----------------------------------------------------------------------------------

    def steps(self, state):
        found = []
        reach = self.reach(state[0], state[1])
        if state[7]:
            self.add_faults(found, state)
        self.add_repairs(found, state)
        prompt = len(found)
        self.add_hearing(found, state, reach)
        late = prompt == len(found)
        self.add_views(found, state, reach, late)
        self.add_cuts(found, state, reach, late)
        for i, node in enumerate(state[0]):
            if node[0] == RUNNING:
                self.add_start(found, state, reach, i)
                self.add_learning(found, state, reach, i)
        for ballot in state[6]:
            self.add_ballot_steps(found, state, reach, ballot, late)
        return found

    def add_start(self, found, state, reach, i):
        """A node with a motive begins a ballot, or begins its own again."""
        nodes, ballots = state[0], state[6]
        node = nodes[i]
        present = self.present(node[1])
        motive = (state[5] | self.silent_facts(state, present)) & present & ~(1 << i)
        if not motive and not self.cut_pairs(state[4], present):
            return
        others = [b for b in ballots if b[2] != i]
        active = [b for b in others if b[3] != PART and reach[i] >> b[2] & 1]
        if len(active) >= self.coordinators:
            return
        value = 1 + max([o[2] for o in nodes] + [b[1] for b in ballots] + [0])
        ballot = (len(node[1]), value, i, PREPARING, 1 << i, 0, 0, (node[3], node[4]), 0, 0)
        self.add(found, ('start', i), state, nodes=self.replaced(nodes, i, node[:2] + (value,) + node[3:]),
                 ballots=tuple(others) + (ballot,))

    def add_learning(self, found, state, reach, i):
        nodes, node = state[0], state[0][i]
        number = len(node[1])
        for x in members(reach[i]):
            if len(nodes[x][1]) > number and nodes[x][1][:number] == node[1]:
                self.add(found, ('learn', i, 'from', x), state,
                         nodes=self.replaced(nodes, i, self.decided(node, i, nodes[x][1][number])))
                return

    @staticmethod
    def decided(node, i, removed):
        return (ENDED if removed >> i & 1 else RUNNING, node[1] + (removed,), 0, 0, 0)

    # --- the steps of one ballot -------------------------------------------------------------------

    def add_ballot_steps(self, found, state, reach, ballot, late):
        number, value, c, phase = ballot[:4]
        if phase == PART:
            self.add_obeying(found, state, ballot)
        elif state[0][c][0] != RUNNING:
            return
        elif phase == PREPARING:
            self.add_promises(found, state, reach, ballot)
            self.add_close(found, state, ballot)
        elif phase == ACCEPTING:
            self.add_accepts(found, state, reach, ballot)
        elif late:
            self.add_part(found, state, ballot)

    def add_promises(self, found, state, reach, ballot):
        nodes, ballots = state[0], state[6]
        number, value, c, phase, promisers, up, heard, carried = ballot[:8]
        for i in members(reach[c] & self.present(nodes[c][1]) & ~promisers):
            node = nodes[i]
            if node[1] != nodes[c][1] or node[2] == value or not self.rules.promise(node[2], value):
                continue
            own_heard, own_up = self.heard_and_up(state, i)
            given = ballot[:4] + (promisers | 1 << i, up | own_up & ~(1 << i), heard | own_heard & ~(1 << i),
                                  (node[3], node[4]) if self.rules.take(carried[0], node[3]) else carried) + ballot[8:]
            self.add(found, ('promise', i, 'to', c), state,
                     nodes=self.replaced(nodes, i, node[:2] + (value,) + node[3:]),
                     ballots=tuple(given if b is ballot else b for b in ballots))

    def judged(self, state, ballot):
        """The present nodes, those of them that are gone, and those that are silent."""
        c, promisers = ballot[2], ballot[4]
        present, broken = self.present(state[0][c][1]), self.rules.broken
        heard, up = self.heard_and_up(state, c)
        missing, up, heard = present & ~promisers, up | ballot[5], heard | ballot[6]
        gone = state[5] & missing
        if 'gone_unasked' not in broken:
            gone &= ~up
        silent = self.silent_facts(state, present) & missing & ~gone
        if 'silent_by_suspicion' in broken:
            silent &= ~up
        elif 'silent_unasked' not in broken:
            silent &= ~heard
        return present, gone, silent

    def add_close(self, found, state, ballot):
        """The round is complete: each present node has promised, is gone, or is silent."""
        nodes, ballots = state[0], state[6]
        number, value, c, phase, promisers, up, heard, carried = ballot[:8]
        present, gone, silent = self.judged(state, ballot)
        if present & ~promisers & ~gone & ~silent:
            return
        pairs = self.cut_pairs(state[4], present & ~gone & ~silent)
        victims = self.give_up(pairs)
        removed = self.rules.set_to_propose(gone | silent | victims, carried, present, promisers, gone)
        rest = tuple(b for b in ballots if b is not ballot)
        if not removed:
            self.add(found, ('nothing to decide', c), state, ballots=rest)
        elif not self.rules.is_quorum(present, promisers, gone, 0):
            self.add(found, ('no quorum', c, members(promisers)), state,
                     ballots=rest + (ballot[:3] + (WAITING,) + ballot[4:],))
        else:
            problem = self.wrong_removal(state, removed & (gone | silent), victims, pairs) if not (
                carried[0] and removed == carried[1]) else None
            self.add(found, ('accept', c, 'proposes', members(removed), 'with', members(promisers)), state,
                     nodes=self.replaced(nodes, c, nodes[c][:3] + (value, removed)), problem=problem,
                     ballots=rest + (ballot[:3] + (ACCEPTING, promisers, 0, 0, (0, 0), removed, 1 << c),))

    @staticmethod
    def give_up(pairs):
        """The victims of cut paths: each time the node in most pairs, at a tie the highest."""
        victims = 0
        while pairs:
            ends = [k for pair in pairs for k in pair]
            worst = max(ends, key=lambda k: (ends.count(k), k))
            victims |= 1 << worst
            pairs = [p for p in pairs if worst not in p]
        return victims

    @staticmethod
    def wrong_removal(state, removed, victims, pairs):
        for x in members(removed):
            if state[0][x][0] in (RUNNING, STOPPED) and not state[8] >> x & 1:
                return 'node %d is removed and was not at fault' % x
        for a, b in pairs:
            if not victims & (1 << a | 1 << b):
                return 'the path %d-%d is cut and neither side is given up' % (a, b)
        return None

    def add_accepts(self, found, state, reach, ballot):
        nodes, ballots = state[0], state[6]
        number, value, c, phase, quorum, _, _, _, removed, accepted = ballot
        for i in members(quorum & ~accepted & reach[c]):
            node = nodes[i]
            if node[1] == nodes[c][1] and self.rules.accept(node[2], value):
                given = ballot[:9] + (accepted | 1 << i,)
                self.add(found, ('accepted', i, 'of', c), state,
                         nodes=self.replaced(nodes, i, node[:2] + (value, value, removed)),
                         ballots=tuple(given if b is ballot else b for b in ballots))
        if accepted == quorum:
            self.add(found, ('decide', c, members(removed)), state,
                     nodes=self.replaced(nodes, c, self.decided(nodes[c], c, removed)))

    def add_part(self, found, state, ballot):
        """Nobody has been heard for the limit again: the coordinator ends and tells its promisers.
        As long as anybody has been, it does not, and may begin again."""
        nodes, ballots, c = state[0], state[6], ballot[2]
        present, gone, silent = self.judged(state, ballot)
        if present & ~ballot[4] & ~gone & ~silent:
            return
        if self.rules.is_quorum(present, ballot[4], gone, 0) and 'part_unjudged' not in self.rules.broken:
            return  # a silent node has been proven dead meanwhile
        told = ballot[:3] + (PART,) + ballot[4:5] + (0, 0, (0, 0), gone, 0)
        faulty = self.more_faulty(state[8], state, self.reach(nodes, state[1]), members(ballot[4]))
        self.add(found, ('part', c, members(ballot[4])), state, faulty=faulty,
                 nodes=self.replaced(nodes, c, (ENDED,) + nodes[c][1:]), problem=self.wrong_end(faulty, c),
                 ballots=tuple(told if b is ballot else b for b in ballots))

    def add_obeying(self, found, state, ballot):
        nodes = state[0]
        for i in members(ballot[4]):
            node = nodes[i]
            if node[0] != RUNNING or node[2] != ballot[1] or len(node[1]) != ballot[0]:
                continue
            outside = self.present(node[1]) & ~ballot[4] & ~ballot[8]
            if self.heard_and_up(state, i)[0] & outside and 'part_unasked' not in self.rules.broken:
                continue
            self.add(found, ('obey', i), state, nodes=self.replaced(nodes, i, (ENDED,) + node[1:]),
                     problem=self.wrong_end(state[8], i))

    @staticmethod
    def wrong_end(faulty, i):
        return None if faulty >> i & 1 else 'node %d ends for want of a majority and was not off it' % i

    # --- states that differ in nothing that matters are one ----------------------------------------

    def canonical(self, nodes, paths, rejecting, views, cuts, refused, ballots, left, faulty, problem):
        n = self.n
        somewhere = 0
        for o in nodes:
            if o[0] in (RUNNING, STOPPED):
                somewhere |= self.present(o[1])
        nodes = tuple((o[0], (), 0, 0, 0) if o[0] in (DEAD, ENDED) else o for o in nodes)
        seen = list(views)
        for a in range(n):
            life = nodes[a][0]
            mask = self.present(nodes[a][1]) if life in (RUNNING, STOPPED) else somewhere
            for x in range(n):
                if seen[a * n + x] and (not somewhere >> a & mask >> x & 1 or (
                        life != RUNNING and seen[a * n + x] == SUSPECT)):
                    seen[a * n + x] = UP
        for a, b in self.pairs:
            if not (somewhere >> a & somewhere >> b & 1) or DEAD in (nodes[a][0], nodes[b][0]) or ENDED in (
                    nodes[a][0], nodes[b][0]):
                cuts &= ~self.bit[a, b]
        closed = sum(1 << k for k, o in enumerate(nodes) if o[0] in (DEAD, ENDED))
        faulty &= ~closed
        kept = [b[:5] + (b[5] & somewhere & ~b[4], b[6] & somewhere & ~b[4]) + b[7:]
                for b in ballots if self.is_open(nodes, b)]
        nodes = tuple(o[:2] + (self.promise_among(kept, o[2]),) + o[3:] for o in nodes)
        values = [v for o in nodes for v in o[2:4]] + [b[1] for b in kept] + [b[7][0] for b in kept]
        rank = rank_values(values)
        nodes = tuple(o[:2] + (rank[o[2]], rank[o[3]], o[4]) for o in nodes)
        kept = tuple(sorted(b[:1] + (rank[b[1]],) + b[2:7] + ((rank[b[7][0]], b[7][1]),) + b[8:] for b in kept))
        return (nodes, paths, rejecting, tuple(seen), cuts, refused & somewhere, kept, left, faulty, problem)

    @staticmethod
    def promise_among(ballots, promised):
        """A promise that is none to an open ballot counts by its place between these only."""
        below = [b[1] for b in ballots if b[1] <= promised]
        highest = max(below) if below else 0
        return highest if highest in (0, promised) else highest + 0.5

    @staticmethod
    def is_open(nodes, b):
        """Whether a ballot still has a step: its coordinator leads it, or PART is on its way."""
        if b[3] == PART:
            return any(nodes[k][0] in (RUNNING, STOPPED) and nodes[k][2] == b[1] and len(nodes[k][1]) == b[0]
                       for k in members(b[4]))
        o = nodes[b[2]]
        return o[0] in (RUNNING, STOPPED) and len(o[1]) == b[0] and o[2] == b[1]

    # --- properties --------------------------------------------------------------------------------

    def violation(self, state):
        if state[9]:
            return state[9]
        alive = [(k, o) for k, o in enumerate(state[0]) if o[0] in (RUNNING, STOPPED)]
        for k, (i, a) in enumerate(alive):
            for j, b in alive[k + 1:]:
                both = min(len(a[1]), len(b[1]))
                if a[1][:both] != b[1][:both]:
                    return 'two worlds: nodes %d and %d' % (i, j)
        if self.kinds == {'kill'}:
            for i, o in enumerate(state[0]):
                if o[0] == ENDED:
                    return 'node %d has ended though all others only died' % i
        return None

    def good(self, state):
        """All running nodes have ended, or stand with running nodes of one decision in reach."""
        nodes, reach = state[0], self.reach(state[0], state[1])
        for i, o in enumerate(nodes):
            if o[0] != RUNNING:
                continue
            present = self.present(o[1])
            if present & ~reach[i] or self.cut_pairs(state[4], present):
                return False
            if any(nodes[k][1] != o[1] for k in members(present)):
                return False
        return True

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of membership: how the node daemons decide together which nodes are lost.

The rules (Rules) are those of the daemons. Two models use them: AnyTiming, in which any message
takes any time and any node takes any other for silent at any time, and JustTiming, in which paths
are cut and heal, daemons stop and continue, and a node takes another for silent only when it has
really been out of reach. Sets of nodes are bit masks. The states carry the names of the code."""

RUNNING, STOPPED, DEAD, ENDED, DONE = 'RUNNING', 'STOPPED', 'DEAD', 'ENDED', 'DONE'
PREPARING, ACCEPTING, WAITING, PART = 'PREPARING', 'ACCEPTING', 'WAITING', 'PART'
NOBODY = -1


def members(mask):
    """The nodes of a set, ascending."""
    found, node = [], 0
    while mask:
        if mask & 1:
            found.append(node)
        mask >>= 1
        node += 1
    return found


def lowest_bit(mask):
    return mask & -mask


class Rules:
    """What decides a ballot. `broken` names rules that are changed, to see that it is noticed."""

    def __init__(self, broken=(), witness=False):
        self.broken, self.witness = frozenset(broken), witness

    def is_quorum(self, present, promised, gone, claim):
        """Whether the promisers may decide. The claim is the node that has the witness's word."""
        if present & ~promised & ~gone == 0:
            return True
        size, votes = bin(present).count('1'), bin(promised).count('1')
        if 'dead_count_out' in self.broken:
            size -= bin(present & gone & ~promised).count('1')
        if 2 * votes != size:
            return 2 * votes > size
        if 'both_halves' in self.broken:
            return True
        return bool((claim if self.witness else lowest_bit(present)) & promised)

    def set_to_propose(self, fresh, carried, present, gone):
        """The set that a coordinator proposes: of its own round, or one that may have been decided.
        Carried is (ballot, set) of the highest accepted ballot among the promises, or (0, 0)."""
        if not carried[0] or 'carried_ignored' in self.broken:
            return fresh
        if present & ~carried[1] & ~gone == 0:
            return fresh  # all who would go on by the carried set are proven dead
        return carried[1]


def rank_values(values):
    """A map of ballots to 1, 2, ... in their order: only the order of ballots counts."""
    return {value: k + 1 for k, value in enumerate(sorted(set(values) - {0}))} | {0: 0}


class AnyTiming:
    """Safety. Each message is delivered at any time or never, which holds for delays, cuts, stops
    and lost machines too; a coordinator takes any node that has not promised for silent.

    A state is (nodes, ballots, claims, kills left). A node is (life, decisions, promised ballot,
    accepted ballot, accepted set, closed), where decisions are the removed sets of number 0, 1, ..
    and closed are the dead nodes whose links it has closed. A ballot is (number, ballot,
    coordinator, PREPARING, promises) with one (accepted ballot, accepted set) or None for each
    node, or (number, ballot, coordinator, ACCEPTING, removed, quorum, gone, accepted)."""

    outside = frozenset(['kill'])

    def __init__(self, n, kills, rules=None, victims=True, finish=True, ballots=None):
        self.n, self.kills, self.rules = n, kills, rules or Rules()
        self.victims, self.finish, self.most = victims, finish, ballots
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
                if left:
                    self.add_starts(found, state, i)
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
            if node[0] != RUNNING or len(node[1]) != number or node[2] >= value:
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
        carried = max(p for k, p in enumerate(promises) if quorum >> k & 1)
        missing = present & ~quorum
        victims = [0] + ([1 << k for k in members(quorum)] if self.victims and quorum & (quorum - 1) else [])
        for removed in {self.rules.set_to_propose(missing | v, carried, present, gone) for v in victims}:
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
        return node[0] == RUNNING and len(node[1]) == number and (
            node[2] <= value or 'lower_accepted' in self.rules.broken)

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
        return (nodes, tuple(sorted(kept, key=lambda b: (b[0], b[1], b[2]))), claims, kills, left)

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


UP, SUSPECT, SILENT = 0, 1, 2  # what a node thinks of another; SUSPECT: its link is dialled, too


class JustTiming:
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

    def __init__(self, n, faults, kinds, rules=None, coordinators=1, at_once=True):
        self.n, self.faults, self.kinds = n, faults, frozenset(kinds)
        self.rules, self.coordinators, self.at_once = rules or Rules(), coordinators, at_once
        self.all = (1 << n) - 1
        self.pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
        self.bit = {}
        for k, (a, b) in enumerate(self.pairs):
            self.bit[a, b] = self.bit[b, a] = 1 << k
        self.parts = {}

    def initial(self):
        every = (1 << len(self.pairs)) - 1
        return (((RUNNING, (), 0, 0, 0),) * self.n, every, 0, (UP,) * (self.n * self.n), 0, 0, (),
                self.faults, 0, None)

    def present(self, decisions):
        mask = self.all
        for removed in decisions:
            mask &= ~removed
        return mask

    def reach(self, nodes, paths):
        """For each running node those that its messages reach, passed on by running nodes."""
        running = sum(1 << k for k, o in enumerate(nodes) if o[0] == RUNNING)
        key = (running, paths)
        if key not in self.parts:
            found = [0] * self.n
            for i in members(running):
                mask, grown = 0, 1 << i
                while grown != mask:
                    mask = grown
                    for a in members(mask):
                        grown |= sum(1 << b for b in members(running & ~mask) if paths & self.bit[a, b])
                found[i] = mask
            self.parts[key] = tuple(found)
        return self.parts[key]

    def is_strong(self, state, reach, i):
        """Whether a node is running and in reach of those that may go on: a majority, the right half,
        or all that are not gone."""
        node = state[0][i]
        if node[0] != RUNNING:
            return False
        present = self.present(node[1])
        return self.rules.is_quorum(present, present & reach[i], present & state[5], 0)

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

    def add(self, found, label, state, **change):
        """Adds a step whose next state has some parts changed."""
        names = ('nodes', 'paths', 'rejecting', 'views', 'cuts', 'refused', 'ballots', 'left', 'faulty', 'problem')
        found.append((label, self.canonical(*(change.get(k, v) for k, v in zip(names, state)))))

    @staticmethod
    def replaced(items, i, item):
        return items[:i] + (item,) + items[i + 1:]

    def add_faults(self, found, state):
        nodes, paths, left = state[0], state[1], state[7] - 1
        for i, node in enumerate(nodes):
            if 'kill' in self.kinds and node[0] in (RUNNING, STOPPED):
                self.add(found, ('kill', i), state, nodes=self.replaced(nodes, i, (DEAD,) + node[1:]), left=left)
            if 'stop' in self.kinds and node[0] == RUNNING:
                self.add(found, ('stop', i), state, nodes=self.replaced(nodes, i, (STOPPED,) + node[1:]), left=left)
            own = sum(self.bit[i, b] for b in range(self.n) if b != i)
            if 'cut off' in self.kinds and paths & own:
                self.add(found, ('cut off', i), state, paths=paths & ~own, left=left)
        for a, b in self.pairs:
            if 'cut' in self.kinds and paths & self.bit[a, b]:
                self.add(found, ('cut', a, b), state, paths=paths & ~self.bit[a, b], left=left)
            if 'reject' in self.kinds and paths & self.bit[a, b]:
                self.add(found, ('reject', a, b), state, paths=paths & ~self.bit[a, b],
                         rejecting=state[2] | self.bit[a, b], left=left)
        if 'halves' in self.kinds:
            self.add_halves(found, state)

    def add_halves(self, found, state):
        for part in range(1, self.all, 2):
            if 1 < bin(part).count('1') < self.n - 1:
                across = sum(self.bit[a, b] for a, b in self.pairs if (part >> a ^ part >> b) & 1)
                if state[1] & across:
                    self.add(found, ('halves', members(part)), state, paths=state[1] & ~across, left=state[7] - 1)

    def add_repairs(self, found, state):
        nodes, paths = state[0], state[1]
        for i, node in enumerate(nodes):
            if node[0] == STOPPED:  # it takes all others for heard just now
                row = i * self.n
                views = state[3][:row] + (UP,) * self.n + state[3][row + self.n:]
                self.add(found, ('continue', i), state, nodes=self.replaced(nodes, i, (RUNNING,) + node[1:]),
                         views=views)
        healed = (1 << len(self.pairs)) - 1 & ~state[2]
        if paths != healed:
            self.add(found, ('heal',), state, paths=healed)

    def add_hearing(self, found, state, reach):
        """Nodes hear others again that are in reach."""
        nodes, paths, views = state[0], state[1], state[3]
        for a in range(self.n):
            news = []
            for x in members(reach[a] & ~(1 << a)):
                view = views[a * self.n + x]
                after = UP if paths & self.bit[a, x] else SUSPECT
                if after < view:
                    news.append((x, after))
            for group in self.grouped(news):
                after, heard = self.seen(views, a, group), sum(1 << x for x, _ in group)
                faulty = state[8]
                for k in members(heard | 1 << a):
                    if self.is_heard_by_all(nodes, after, k):
                        faulty &= ~(1 << k)
                self.add(found, ('hear', a, members(heard)), state, views=after, faulty=faulty,
                         refused=state[5] & ~heard)

    def grouped(self, news):
        """What a node notices of the others: at once, or one by one."""
        return ([news] if news else []) if self.at_once else [[one] for one in news]

    def seen(self, views, a, news):
        after = list(views)
        for x, view in news:
            after[a * self.n + x] = view
        return tuple(after)

    def is_heard_by_all(self, nodes, views, x):
        n = self.n
        return all(views[y * n + x] == UP and views[x * n + y] == UP for y in range(n)
                   if nodes[y][0] == RUNNING and y != x and self.present(nodes[y][1]) >> x & 1)

    def add_views(self, found, state, reach, late):
        """Links that become suspect, and, when the limit passes, nodes held for silent. A refusal
        is a proof for a node only that has heard the other within the limit."""
        nodes, paths, rejecting, views, _, refused = state[:6]
        for a in range(self.n):
            if nodes[a][0] != RUNNING:
                continue
            suspect, silent = [], []
            for x in members(self.present(nodes[a][1]) & ~(1 << a)):
                view, bit = views[a * self.n + x], self.bit[a, x]
                refuses = rejecting & bit or (paths & bit and nodes[x][0] in (DEAD, ENDED))
                if refuses and view != SILENT and not refused >> x & 1:
                    self.add(found, ('refused', a, x), state, refused=refused | 1 << x)
                if view == UP and not (paths & bit and nodes[x][0] == RUNNING):
                    suspect.append((x, SUSPECT))
                if view == SUSPECT and not reach[a] >> x & 1 and not refused >> x & 1 and not refuses:
                    silent.append((x, SILENT))
            for group in self.grouped(suspect):
                self.add(found, ('suspect', a, [x for x, _ in group]), state, views=self.seen(views, a, group))
            for group in self.grouped(silent) if late else []:
                faulty = state[8]
                for x, _ in group:
                    faulty = self.more_faulty(faulty, state, reach, (a, x))
                self.add(found, ('silent', a, [x for x, _ in group]), state, faulty=faulty,
                         views=self.seen(views, a, group))

    def add_cuts(self, found, state, reach, late):
        """A path that is held for cut, when its ends hear each other by others for the limit."""
        for a, x in self.pairs:
            bit = self.bit[a, x]
            if late and not state[1] & bit and reach[a] >> x & 1 and not state[4] & bit:
                self.add(found, ('path lost', a, x), state, cuts=state[4] | bit)
            if state[1] & bit and state[4] & bit and state[0][a][0] == state[0][x][0] == RUNNING:
                self.add(found, ('path found', a, x), state, cuts=state[4] & ~bit)

    def more_faulty(self, faulty, state, reach, ends):
        return faulty | sum(1 << k for k in ends if not self.is_strong(state, reach, k))

    def silent_facts(self, state, present):
        mask, n = 0, self.n
        for a in members(present):
            for x in members(present):
                if state[3][a * n + x] == SILENT:
                    mask |= 1 << x
        return mask

    def cut_pairs(self, cuts, among):
        return [(a, b) for a, b in self.pairs if cuts & self.bit[a, b] and among >> a & among >> b & 1]

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

    def heard_and_up(self, state, i):
        """The nodes that a node has heard within the limit, and those to which its link is up."""
        row, heard, up = i * self.n, 0, 0
        for x in range(self.n):
            view = state[3][row + x]
            heard |= (view != SILENT) << x
            up |= (view == UP) << x
        return heard, up

    def add_promises(self, found, state, reach, ballot):
        nodes, ballots = state[0], state[6]
        number, value, c, phase, promisers, up, heard, carried = ballot[:8]
        for i in members(reach[c] & self.present(nodes[c][1]) & ~promisers):
            node = nodes[i]
            if node[1] != nodes[c][1] or node[2] >= value:
                continue
            own_heard, own_up = self.heard_and_up(state, i)
            given = ballot[:4] + (promisers | 1 << i, up | own_up & ~(1 << i), heard | own_heard & ~(1 << i),
                                  max(carried, (node[3], node[4]))) + ballot[8:]
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
        removed = self.rules.set_to_propose(gone | silent | victims, carried, present, gone)
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
            if node[1] == nodes[c][1] and node[2] <= value:
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

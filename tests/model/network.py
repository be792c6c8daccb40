# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The network of JustTiming (just_timing.py): what befalls paths and daemons, and what the nodes
notice of each other. The parts of a state are described there."""
from membership import DEAD, ENDED, RUNNING, STOPPED, Rules, members

UP, SUSPECT, SILENT = 0, 1, 2  # what a node thinks of another; SUSPECT: its link is dialled, too


class Network:
    """Faults, repairs, and the views that nodes have of others. A class that adds what the nodes
    decide has canonical(), which makes one state of those that differ in nothing that matters."""

    def __init__(self, n, faults, kinds, rules=None, coordinators=1, at_once=True):
        self.n, self.faults, self.kinds = n, faults, frozenset(kinds)
        self.rules, self.coordinators, self.at_once = rules or Rules(), coordinators, at_once
        self.all = (1 << n) - 1
        self.pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
        self.bit = {}
        for k, (a, b) in enumerate(self.pairs):
            self.bit[a, b] = self.bit[b, a] = 1 << k
        self.parts = {}

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

    def add(self, found, label, state, **change):
        """Adds a step whose next state has some parts changed."""
        names = ('nodes', 'paths', 'rejecting', 'views', 'cuts', 'refused', 'ballots', 'left', 'faulty', 'problem')
        found.append((label, self.canonical(*(change.get(k, v) for k, v in zip(names, state)))))

    @staticmethod
    def replaced(items, i, item):
        return items[:i] + (item,) + items[i + 1:]

    # --- faults and repairs ------------------------------------------------------------------------

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

    # --- what nodes notice -------------------------------------------------------------------------

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

    def heard_and_up(self, state, i):
        """The nodes that a node has heard within the limit, and those to which its link is up."""
        row, heard, up = i * self.n, 0, 0
        for x in range(self.n):
            view = state[3][row + x]
            heard |= (view != SILENT) << x
            up |= (view == UP) << x
        return heard, up

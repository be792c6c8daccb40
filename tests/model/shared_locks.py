# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of shared locks (pgroup/access/shared_lock.c): processes of which any may die at any
moment ask for a lock, exclusively or shared, and release it. Stores are sequentially consistent, as
the library's are here.

No two living owners exclude each other; no process gets the lock before one that lives, has an
earlier ticket, and excludes it; and when no more die, all that live get it and release it."""

CHOOSES = 'chooses'
# Where a process is.
BEGIN, COUNT, TAKE, CLAIM, LOOK, COMPARE, UNCOUNT, OWN, CLEAR, LOWER, DONE = range(11)


class Lock:
    """The search's model. kinds: 'X' or 'S' for each process; rounds: how often each asks. fault: what is
    left out or done in another order. A state is (tickets, exclusive, claims, processes); a claim is
    None, CHOOSES or a ticket; a process is (place, rounds left, ticket, index of the claim that it
    compares with, whether it lives)."""

    outside = frozenset(['dies'])

    def __init__(self, kinds, rounds=1, fault=None):
        self.kinds, self.rounds, self.fault = kinds, rounds, fault

    def initial(self):
        return 0, 0, (None,) * len(self.kinds), ((BEGIN, self.rounds, 0, 0, True),) * len(self.kinds)

    def exclude(self, i, j):
        return i != j and 'X' in (self.kinds[i], self.kinds[j])

    def violation(self, state):
        _, _, _, processes = state
        owners = [i for i, p in enumerate(processes) if p[4] and p[0] in (OWN, CLEAR)]
        for i in owners:
            for j, p in enumerate(processes):
                if self.exclude(i, j) and j in owners:
                    return 'two owners, %d and %d' % (i, j)
                if self.exclude(i, j) and p[4] and LOOK <= p[0] <= UNCOUNT and p[2] < processes[i][2]:
                    return '%d has the lock before %d' % (i, j)
        return None

    def good(self, state):
        return all(p[0] == DONE or not p[4] for p in state[3])

    def steps(self, state):
        found = []
        for i, (place, left, ticket, at, alive) in enumerate(state[3]):
            if alive and place != DONE:
                found.append((('moves', i, place), self.moved(state, i)))
                found.append((('dies', i), self.changed(state, i, (place, left, ticket, at, False))))
        return found

    def changed(self, state, i, process, claim=0, exclusive=0, tickets=0):
        """claim: 0: as before."""
        claims, processes = list(state[2]), list(state[3])
        processes[i] = process
        if claim != 0:
            claims[i] = claim
        return state[0] + tickets, state[1] + exclusive, tuple(claims), tuple(processes)

    def order(self):
        """The places in their order, those of exclusive claims included."""
        end = [LOWER, CLEAR] if self.fault == 'lowered early' else [CLEAR, LOWER]
        begin = [TAKE, COUNT, CLAIM] if self.fault == 'counted late' else [COUNT, TAKE, CLAIM]
        return [BEGIN, *begin, LOOK, COMPARE, OWN, *end, DONE]

    def next_place(self, i, place):
        order = [p for p in self.order() if self.kinds[i] == 'X' or p not in (COUNT, LOWER)]
        return order[order.index(place) + 1]

    def moved(self, state, i):
        place, left, ticket, at, alive = state[3][i]
        tickets, exclusive, claims, _ = state
        if place in (COMPARE, UNCOUNT):
            return self.compared(state, i)
        after = self.next_place(i, place)
        change = {}
        if place == BEGIN and self.fault != 'not choosing':
            change = {'claim': CHOOSES}
        elif place == COUNT:
            change = {'exclusive': 1}
        elif place == TAKE:
            ticket, change = tickets + 1, {'tickets': 1}
        elif place == CLAIM:
            change = {'claim': ticket}
        elif place == LOOK and self.kinds[i] == 'S' and not exclusive:
            after = OWN
        elif place == CLEAR:
            change = {'claim': None}
        elif place == LOWER:
            change = {'exclusive': -1}
        if after == DONE:
            left -= 1
            after, ticket = (BEGIN if left else DONE), 0
        return self.changed(state, i, (after, left, ticket, 0, alive), **change)

    def compared(self, state, i):
        """With one other claim; from the first one on again where it excludes."""
        place, left, ticket, at, alive = state[3][i]
        if place == UNCOUNT:
            return self.changed(state, i, (COMPARE, left, ticket, at + 1, alive), exclusive=-1)
        if at == len(self.kinds):
            return self.changed(state, i, (OWN, left, ticket, 0, alive))
        claim = state[2][at]
        if claim is None or not self.exclude(i, at) or (claim != CHOOSES and claim > ticket):
            return self.changed(state, i, (COMPARE, left, ticket, at + 1, alive))
        if state[3][at][4]:
            return self.changed(state, i, (COMPARE, left, ticket, 0, alive))
        counted = self.kinds[at] == 'X' and (claim != CHOOSES or self.fault == 'lowered for one that chose')
        claims = list(state[2])
        claims[at] = None
        state = (state[0], state[1], tuple(claims), state[3])
        return self.changed(state, i, (UNCOUNT, left, ticket, at, alive) if counted
                            else (COMPARE, left, ticket, at + 1, alive))

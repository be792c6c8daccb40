# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The rules of membership: how the node daemons decide together which nodes are lost.

The rules (Rules) are those of the daemons. Two models use them: AnyTiming (any_timing.py), in which
any message takes any time and any node takes any other for silent at any time, and JustTiming
(just_timing.py), in which paths are cut and heal, daemons stop and continue, and a node takes
another for silent only when it has really been out of reach. Sets of nodes are bit masks. The
states carry the names of the code."""

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
    """What decides a ballot: the functions of pgroup/noded/consensus/voting.c and ballot.c that have the
    same names behind rgi_voting_ and rgi_ballot_. `broken` names rules that are changed, to see that it is
    noticed."""

    def __init__(self, broken=(), witness=False):
        self.broken, self.witness = frozenset(broken), witness

    def promise(self, promised, ballot):
        """Whether a node that has promised a ballot promises another one."""
        return ballot >= promised

    def accept(self, promised, ballot):
        return ballot >= promised or 'lower_accepted' in self.broken

    def take(self, taken, accepted):
        """Whether the value that a node has accepted in that ballot replaces the one taken before."""
        return accepted > taken and 'carried_ignored' not in self.broken

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

    def set_to_propose(self, fresh, carried, present, promised, gone):
        """The set that a coordinator proposes: of its own round, or one that may have been decided.
        Carried is (ballot, set) of the highest accepted ballot among the promises, or (0, 0)."""
        if not carried[0]:
            return fresh
        if 'voters_only' in self.broken:
            gone = present & ~promised
        if present & ~carried[1] & ~gone == 0:
            return fresh  # all who would go on by the carried set are proven dead
        return carried[1]


def rank_values(values):
    """A map of ballots to 1, 2, ... in their order: only the order of ballots counts."""
    return {value: k + 1 for k, value in enumerate(sorted(set(values) - {0}))} | {0: 0}

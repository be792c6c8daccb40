# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of idle slots (pgroup/progress/slot.c): a process frees a slot that no user uses, and users
come back to it meanwhile. No user touches a slot that has been freed.

A user that sees another mark takes the list's lock, which the process that frees has: the model ends its
program there. The processes are those of bells.py."""
import bells

IDLE = 2  # the count of uses at first


class Slots(bells.Machine):
    """A user notes in its register `gone` what it finds of the slot each time that it touches it."""

    def violation(self, state):
        for _, registers, _, _ in state[1]:
            if dict(registers).get('gone'):
                return 'a user touches a slot that has been freed'
        return None

    def good(self, state):
        return all(self.finished(state, i) for i in range(len(self.programs)))


def differs(name, other):
    return lambda register: register[name] != register[other]


def come_back(me, at, end, hold, use):
    """rgi_slot_hold, the use and rgi_slot_let_go. at: the place of the first operation."""
    held = [('exchange', 'held%d' % me, 1)]
    look = [('load sc', 'mark', 'now')]
    return (held + look if hold == 'first' else look + held if hold == 'later' else look) + [
        ('jump', end, differs('now', 'mark')), ('load', 'freed', 'gone'), ('store', 'uses%d' % me, use),
        ('store', 'held%d' % me, 0), ('load', 'freed', 'gone')]


def user(me, turns, hold, counts):
    """Comes back to the slot and leaves it again, `turns` times."""
    length = (7 if hold else 6) + 2
    program = [('jump', 1)]  # its mark is that of the beginning
    end = 1 + turns * length
    for turn in range(turns):
        use = IDLE + 1 + (2 * turn if counts else 0)
        program += come_back(me, len(program), end, hold, use)
        program += [('load', 'mark', 'mark'), ('store', 'uses%d' % me, use + 1 if counts else IDLE)]
    return program


def giver(users, look_again):
    """free_idle: the slot is idle; the mark; the holds; still idle, and not used meanwhile."""
    program = []
    end = lambda: 2 * users + 2 + 2 * users + (2 * users if look_again else 0) + 1
    for me in range(users):
        program += [('load sc', 'uses%d' % me, 'uses%d' % me),
                    ('jump', end(), lambda register, me=me: register['uses%d' % me] % 2 == 1)]
    program += [('add', 'mark', 1), ('fence',)]
    for me in range(users):
        program += [('load sc', 'held%d' % me, 'held'), ('jump', end(), bells.is_set('held'))]
    for me in range(users if look_again else 0):
        program += [('load sc', 'uses%d' % me, 'again'), ('jump', end(), differs('again', 'uses%d' % me))]
    return program + [('store', 'freed', 1)]


def slots(kind, users=1, turns=2, hold='first', counts=True, look_again=True):
    """hold: 'first': before the user looks at the mark; 'later'; None: not at all. counts: uses are counted,
    or only marked."""
    words = ['mark', 'freed'] + ['%s%d' % (word, i) for i in range(users) for word in ('held', 'uses')]
    programs = [user(i, turns, hold, counts) for i in range(users)] + [giver(users, look_again)]
    model = Slots(kind, tuple(words), programs)
    first = tuple(IDLE if word.startswith('uses') else 0 for word in words)
    registers = (('mark', 0),)
    model.initial = lambda: (first, tuple((0, registers, (), False) for _ in programs))
    return model

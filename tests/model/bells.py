# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of bells: that no wake-up is lost, whatever the order in which stores become visible.

A process is a list of operations on shared words. A plain store and the store of an atomic exchange
or addition wait in the process's buffer until any later moment; the process reads its own buffer
first. A fence, and a load that is sequentially consistent, come after the whole buffer. On a machine
of the kind 'x86' an atomic operation empties the buffer; on a 'weak' one its store may wait like any
other, so that a later relaxed load comes before it. An addition that waits is applied to the word
when it becomes visible. A compare-and-swap that acquires acts on the word itself.

The library bounds its sleeps by 20 ms; the model does not, so that a lost wake-up is a state
in which a process sleeps and nothing can move."""


class Machine:
    """The search's model: `programs` is a list of programs for the processes, `words` the names of the
    shared words, all 0 at first. kind: 'x86' or 'weak'. A state is (values of the words, processes);
    a process is (place in its program, its registers, its buffer, asleep)."""

    outside = frozenset()

    def __init__(self, kind, words, programs):
        self.kind, self.words, self.programs = kind, words, programs

    def initial(self):
        return (0,) * len(self.words), tuple((0, (), (), False) for _ in self.programs)

    def finished(self, state, i):
        return state[1][i][0] == len(self.programs[i])

    def good(self, state):
        return all(self.finished(state, i) and not state[1][i][2] for i in range(len(self.programs)))

    def violation(self, state):
        if self.steps(state) or self.good(state):
            return None
        return 'a lost wake-up: nothing can move, and a process sleeps'

    def steps(self, state):
        found = []
        for i in range(len(self.programs)):
            found += self.drain(state, i)
            if not state[1][i][3] and not self.finished(state, i):
                found += self.operate(state, i)
        return found

    def with_process(self, state, i, process, values=None):
        processes = list(state[1])
        processes[i] = process
        return values or state[0], tuple(processes)

    def drain(self, state, i):
        """The oldest store of process i becomes visible."""
        place, registers, buffer, asleep = state[1][i]
        if not buffer:
            return []
        word, kind, value = buffer[0]
        values = self.changed(state[0], word, kind, value)
        return [(('visible', i, word), self.with_process(state, i, (place, registers, buffer[1:], asleep), values))]

    def changed(self, values, word, kind, value):
        values = list(values)
        at = self.words.index(word)
        values[at] = value if kind == 'store' else values[at] + value
        return tuple(values)

    def seen(self, state, i, word):
        """What process i reads: its own buffer comes first."""
        value = state[0][self.words.index(word)]
        for name, kind, change in state[1][i][2]:
            if name == word:
                value = change if kind == 'store' else value + change
        return value

    def operate(self, state, i):
        """The next operation of process i; [] where it must wait for its own buffer."""
        place, registers, buffer, _ = state[1][i]
        name, *what = self.programs[i][place]
        values, after, register = state[0], place + 1, dict(registers)
        if name == 'store' or name == 'exchange' or name == 'add':
            buffer += ((what[0], 'add' if name == 'add' else 'store', what[1]),)
            if name != 'store' and self.kind == 'x86':
                for word, kind, value in buffer:
                    values = self.changed(values, word, kind, value)
                buffer = ()
        elif name in ('fence', 'load sc', 'wake', 'wait', 'swap') and buffer:
            return []
        elif name in ('load', 'load sc'):
            register[what[1]] = self.seen(state, i, what[0])
        elif name == 'swap':  # the word from 0 to a value; a jump where it is not 0
            if self.seen(state, i, what[0]):
                after = what[2]
            else:
                values = self.changed(values, what[0], 'store', what[1])
        elif name == 'jump':  # unless given: a condition on the registers
            after = what[0] if len(what) == 1 or what[1](register) else after
        elif name == 'wait':  # futex: the kernel compares and counts the sleeper at once
            asleep = self.seen(state, i, what[0]) == register[what[1]]
            return [((name, i), self.with_process(state, i, (after, registers, buffer, asleep and what[0]), values))]
        label = (name, i) + tuple(w for w in what if isinstance(w, (str, int)))
        process = (after, tuple(sorted(register.items())), buffer, False)
        moved = self.with_process(state, i, process, values)
        if name != 'wake':
            return [(label, moved)]
        return [(label + (most,), self.woken(moved, chosen)) for most, chosen in self.choices(state, *what)]

    def choices(self, state, word, most):
        """Whom a wake-up wakes: all that sleep on the word, or any one of them."""
        asleep = [i for i, p in enumerate(state[1]) if p[3] == word]
        if most == 'all' or not asleep:
            return [('all', asleep)]
        return [(i, [i]) for i in asleep]

    def woken(self, state, chosen):
        processes = tuple(p[:3] + (False,) if i in chosen else p for i, p in enumerate(state[1]))
        return state[0], processes


def is_zero(name):
    return lambda register: register[name] == 0


def is_set(name):
    return lambda register: register[name] != 0


def sleep(word, old, at):
    """rgi_bell_sleep. at: the place of the first operation in the program."""
    return [('add', 'sleepers', 1), ('load sc', word, 'now'),
            ('jump', at + 4, lambda register: register['now'] != register[old]),
            ('wait', word, old), ('add', 'sleepers', -1)]


def wake(word, fence, most, end):
    """rgi_bell_wake, without its fence if asked for; `end` is the place behind it."""
    return ([('fence',)] if fence else []) + [
        ('load', 'sleepers', 'sleepers'), ('jump', end, is_zero('sleepers')), ('wake', word, most)]


def bell(kind, fence=True, sleepers=1):
    """A condition, and a bell that is rung after it (rgi_bell_ring)."""
    wait = [('load', 'value', 'old'), ('load', 'condition', 'met'), ('jump', 9, is_set('met'))] + sleep(
        'value', 'old', 3) + [('jump', 0)]
    ring = [('store', 'condition', 1), ('add', 'value', 1)]
    ring += wake('value', fence, 'all', len(ring) + 3 + fence)
    return Machine(kind, ('value', 'sleepers', 'condition'), [ring] + [wait] * sleepers)


def done_bell(kind, expect=True, fence=True):
    """A member ends a step and rings only where one expects it (rgi_bell_ring_expected); another one
    waits for `done`. expect: it counts itself before it looks, with a fence behind that."""
    before = ([('add', 'expecting', 1)] + ([('fence',)] if fence else [])) if expect else []
    at = len(before)
    wait = before + [('load', 'value', 'old'), ('load', 'done', 'met'), ('jump', at + 9, is_set('met'))]
    wait += sleep('value', 'old', at + 3) + [('jump', at)]
    wait += [('add', 'expecting', -1)] if expect else []
    asked = 'expecting' if expect else 'sleepers'
    end = [('store', 'done', 1), ('fence',), ('load', asked, 'count'), ('jump', 9, is_zero('count')),
           ('add', 'value', 1)] + wake('value', True, 'all', 9)
    return Machine(kind, ('value', 'sleepers', 'expecting', 'done'), [end, wait])


def lock(kind, fence=True, processes=2):
    """rgi_lock: each process acquires and releases it once. Without the fence: by an exchange."""
    programs = []
    for me in range(1, processes + 1):
        take = [('swap', 'owner', me, 2), ('jump', 10),
                ('load', 'owner', 'old'), ('jump', 0, is_zero('old'))] + sleep('owner', 'old', 4) + [('jump', 0)]
        give = [('store' if fence else 'exchange', 'owner', 0)]
        give += wake('owner', fence, 'one', len(take) + 4 + fence)
        programs.append(take + give)
    return Machine(kind, ('owner', 'sleepers'), programs)

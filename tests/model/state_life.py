# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The model of the life of a group's shared state (pgroup/collectives/shared/shared_state.c and
shared_state_buffer.c): each member attaches it, takes part in some steps and leaves; any of them may
meet an error, one that no other waits for also before it attaches. Member 0 gives in each step and does not wait for the others. In each step the members
ask for the buffer, whether or not the arena has room. Attaching and leaving are under a lock.

All members of a step go by the same way, through the buffer or without it; without errors all end;
and when all have left, also after errors, the state is freed."""

ATTACH, DECIDE, MOVE, LEAVE, GONE = range(5)
UNUSED = 2  # of a member that has left: it has taken no step


def put(values, i, value):
    return values[:i] + (value,) + values[i + 1:]


class Life:
    """The search's model. A state is (slot, processes). The slot is None or (who is attached, who has left,
    steps ended by each, broken, buffer, steps without room, how member 0 has given in each step so far);
    a process is (place, step, whether it goes through the buffer)."""

    outside = frozenset(['breaks', 'refuses'])

    def __init__(self, n, most=2, fault=None):
        self.n, self.most, self.fault = n, most, fault

    def initial(self):
        return None, ((ATTACH, 0, None),) * self.n

    def violation(self, state):
        slot, processes = state
        for i, (place, step, way) in enumerate(processes):
            if slot and place == MOVE and i and len(slot[6]) > step and slot[6][step] != way:
                return 'member %d takes from another place than member 0 has given to' % i
        if all(p[0] == GONE for p in processes) and slot:
            return 'all have left, and the state is not freed'
        return None

    def good(self, state):
        return all(p[0] == GONE for p in state[1])

    def steps(self, state):
        found = []
        for i, process in enumerate(state[1]):
            for name, slot, after in self.moves(state[0], i, process):
                found.append(((name, i, process[0]), (slot, put(state[1], i, after))))
        return found

    def moves(self, slot, i, process):
        place, step, way = process
        none = (0,) * self.n
        if place == ATTACH:
            if i:
                yield 'refuses', slot, (LEAVE, 0, UNUSED)
            slot = slot or (none, none, none, False, False, frozenset(), ())
            yield 'attaches', (put(slot[0], i, 1), put(slot[1], i, 0)) + slot[2:], (DECIDE, 0, None)
        elif place in (DECIDE, MOVE) and slot[3]:
            yield 'finds', slot, (LEAVE, step, None)
        elif place == DECIDE:
            for after, chosen in self.decisions(slot, step):
                yield 'decides', after, (MOVE, step, chosen)
        elif place == MOVE:
            yield 'breaks', slot[:3] + (True,) + slot[4:], (LEAVE, step, None)
            if i == 0 or len(slot[6]) > step:
                given = slot[6] + (way,) if i == 0 else slot[6]
                ended = slot[:2] + (put(slot[2], i, step + 1),) + slot[3:6] + (given,)
                yield 'moves', ended, (LEAVE if step + 1 == self.most else DECIDE, step + 1, None)
        elif place == LEAVE:
            if self.fault != 'no trace before':
                slot = slot or (none, none, none, False, False, frozenset(), ())
            yield 'leaves', slot and self.after_leaving(slot, i, way == UNUSED), (GONE, step, None)

    def decisions(self, slot, step):
        failed = step in slot[5] and self.fault != 'shortage forgotten'
        if failed or slot[4]:
            yield slot, not failed
            return
        yield slot[:4] + (True,) + slot[5:], True
        yield slot[:5] + (slot[5] | {step},) + slot[6:], False

    def after_leaving(self, slot, i, unused):
        attached, left = put(slot[0], i, 0), put(slot[1], i, UNUSED if unused else 1)
        equal = len({done for done, how in zip(slot[2], left) if how != UNUSED}) <= 1
        over = {'shortage forgotten': all(left), 'errors keep it': all(left) and equal,
                'attached alone counts': True}.get(self.fault, all(left) and (equal or slot[3]))
        return None if not any(attached) and over else (attached, left) + slot[2:]

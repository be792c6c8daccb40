# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Breadth-first search through all states of a model.

A model has initial(), steps(state), a list of (label, next state) where a label is a tuple whose
first item is the name of the step, violation(state), None or what is wrong, and, for the search of
dead ends, good(state) and outside, the names of the steps that are no doing of the nodes."""
import collections
import time


class Result:
    """What a search has found: its size and, if a property is violated, the shortest trace."""

    def __init__(self, model):
        self.model, self.states, self.transitions = model, 0, 0
        self.problem, self.trace, self.complete, self.seconds = None, [], True, 0.0


def trace_to(model, parents, state):
    """The steps from the first state to a state. Parents alone are stored; labels are found again."""
    chain = [state]
    while parents[chain[-1]] is not None:
        chain.append(parents[chain[-1]])
    chain.reverse()
    trace = []
    for before, after in zip(chain, chain[1:]):
        trace.append(next(label for label, found in model.steps(before) if found == after))
    return trace


def follow(model, path):
    """The state after the steps of a path, each of which is the beginning of a label in words."""
    state = model.initial()
    for words in path:
        state = next(after for label, after in model.steps(state) if in_words(label).startswith(words))
    return state


def in_words(label):
    return ' '.join(map(str, label))


def search_states(model, most=None, dead_ends=False, path=()):
    """Visits every state that can be reached, from the state behind a path. Ends at the first
    violation, or after `most` states (then the result is not complete). With dead_ends it also
    looks for a state from which no steps of the nodes alone lead to a good one."""
    begun = time.monotonic()
    result = Result(model)
    first = follow(model, path)
    parents, waiting = {first: None}, collections.deque([first])
    before = {}  # a state: those from which the nodes' own steps lead to it
    while waiting and not result.problem:
        state = waiting.popleft()
        for label, after in model.steps(state):
            result.transitions += 1
            if after not in parents:
                parents[after] = state
                problem = model.violation(after)
                if problem:
                    result.problem, result.trace = problem, trace_to(model, parents, after)
                    break
                waiting.append(after)
            if dead_ends and label[0] not in model.outside:
                before.setdefault(after, []).append(state)
        if most and len(parents) >= most:
            result.complete = False
            break
    result.states = len(parents)
    if dead_ends and result.complete and not result.problem:
        find_dead_end(result, parents, before)
    result.seconds = time.monotonic() - begun
    return result


def find_dead_end(result, parents, before):
    """Goes back from the good states; the first state in the order of the search that is not met
    is a dead end."""
    waiting = [state for state in parents if result.model.good(state)]
    met = set(waiting)
    while waiting:
        for state in before.get(waiting.pop(), ()):
            if state not in met:
                met.add(state)
                waiting.append(state)
    for state in parents:
        if state not in met:
            result.problem = 'a dead end: no steps of the nodes lead from here to a good state'
            result.trace = trace_to(result.model, parents, state)
            return

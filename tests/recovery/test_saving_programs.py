#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The kernel, a posterior and the plate of example-recover: a signal to a random rank at a random moment
makes them save and end with status 99; started again, on another number of ranks and as often as
that happens, they end with the checksum of an undisturbed run. Also when a rank dies.

time: 240
beside: yes
"""
import concurrent.futures
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time

import deaths
import jobs

REQUEUE = 99
if not jobs.OVER_UCX:
    print("libraries that libfabric loads catch SIGTERM: it is not seen when the program does")
    sys.exit(77)
PLAIN = dict(os.environ)
PROGRAMS = {
    'kernel': ('bin/regroup-mcmc', '-g', 2, '-w', 8, '-n', 400, '-u', 50),
    'rounds': ('bin/regroup-mcmc', '-g', 2, '-w', 8, '-n', 400, '-u', 50, '-p', 'sync:i=4'),
    'posterior': ('bin/regroup-posterior', '--model', 'eight-schools', '-g', 2, '-n', 8000),
    'plate': ('bin/example-recover', '--phases', 600, '--steps', 20),
}


def ranks_below(pid, program):
    """The processes of that name, guards not among them, in any depth below."""
    found = []
    for child in deaths.children(pid):
        try:
            with open('/proc/%d/comm' % child) as f:
                name = f.read().strip()
        except OSError:
            continue
        found += [child] * (name == os.path.basename(program)[:15]) + ranks_below(child, program)
    return found


def catches_signals(pid):
    """Whether SIGTERM has a handler: the program has called rg_checkpoint_on_signal."""
    try:
        with open('/proc/%d/status' % pid) as f:
            caught = int(re.search(r'^SigCgt:\s*(\w+)', f.read(), re.M)[1], 16)
    except (OSError, TypeError):
        return False
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def start(np, words, path, env):
    """A job all of whose ranks catch signals."""
    job = jobs.start(jobs.command(jobs.ONE, np, *words, '--checkpoint', path), env)
    ranks = []
    while job.poll() is None and (len(ranks) < np or not all(map(catches_signals, ranks))):
        time.sleep(0.01)
        ranks = ranks_below(job.pid, words[0])
    return job, ranks


def result(text):
    return re.findall(r'checksum[" :]*([0-9a-f]{16})|visits +([0-9a-f]{16})', text)


def interrupt(np, words, path, env, kills):
    job, ranks = start(np, words, path, env)
    time.sleep(random.uniform(0, 0.2))
    if kills and len(ranks) > 1:
        try_kill(ranks.pop(random.randrange(len(ranks))), signal.SIGKILL)
        time.sleep(random.uniform(0, 0.1))
    if ranks:
        try_kill(random.choice(ranks), random.choice([signal.SIGTERM, signal.SIGUSR1]))
    return jobs.end_of(job, 120)


def try_kill(pid, sign):
    try:
        os.kill(pid, sign)
    except ProcessLookupError:
        pass


def check(name, folder, counts, file, env=PLAIN, kills=False):
    """Returns how many of the starts were interrupted."""
    words = PROGRAMS[name]
    status, text = jobs.run(2, *words, env=PLAIN)
    expected = result(text)
    assert status == 0 and expected, (name, status, text)
    path = os.path.join(folder, file)
    for i, np in enumerate(counts):
        status, text = interrupt(np, words, path, env, kills)
        if status != REQUEUE:
            assert status == 0 and result(text) == expected, (name, np, status, text, expected)
            return i
        assert 'saved in ' in text and not result(text), (name, np, text)
    status, text = jobs.run(3, *words, '--checkpoint', path, env=PLAIN)
    assert status == 0 and result(text) == expected, (name, status, text, expected)
    return len(counts)


def test_other_options(folder):
    """A checkpoint of another run is not taken."""
    file = next(f[:-2] for f in sorted(os.listdir(folder)) if re.fullmatch(r'kernel\d\.[01]', f))
    status, text = jobs.run(2, *PROGRAMS['kernel'], '--seed', 5, '--checkpoint',
                            os.path.join(folder, file), env=PLAIN)
    assert status not in (0, REQUEUE) and 'a run with other options' in text, (status, text)


def continue_saved(name, folder, kills_at=None):
    """Continues a copy of the checkpoint, on 3 ranks; one is killed so late, if any. Returns the time that
    it took, status and output."""
    with tempfile.TemporaryDirectory() as copies:
        for f in os.listdir(folder):
            shutil.copy(os.path.join(folder, f), copies)
        job, ranks = start(3, PROGRAMS[name], os.path.join(copies, name), deaths.ENV)
        began = time.monotonic()
        if kills_at is not None:
            time.sleep(kills_at)
            try_kill(random.choice(ranks), signal.SIGKILL)
        status, text = jobs.end_of(job, 120)
        return time.monotonic() - began, status, text


def test_killed_late(name):
    """A rank dies near the end of a run that continues another one: also while the results and what was
    saved are collected. Several runs at a time, so that ranks notice the death late."""
    expected = result(jobs.run(2, *PROGRAMS[name], env=PLAIN)[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        assert any(interrupt(4, PROGRAMS[name], path, PLAIN, False)[0] == REQUEUE for _ in range(5))
        took = continue_saved(name, folder)[0]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            moments = [random.uniform(took / 2, 1.5 * took) for _ in range(24)]
            for _, status, text in pool.map(lambda at: continue_saved(name, folder, at), moments):
                assert status == 0 and result(text) == expected or status == signal.SIGKILL and \
                    'no process is left' in text, (name, status, text)


random.seed(jobs.SEED)
with tempfile.TemporaryDirectory() as folder:
    for name in PROGRAMS if jobs.FULL else ['kernel']:
        assert any(check(name, folder, [4, 1, 7, 2], '%s%d' % (name, i)) for i in range(5)), \
            '%s was never interrupted' % name
    test_other_options(folder)
    for name in ['kernel', 'posterior', 'plate'] if jobs.FULL else ['posterior']:
        check(name, folder, [4, 3], name + 'killed', deaths.ENV, True)
    if jobs.FULL:
        test_killed_late('posterior')

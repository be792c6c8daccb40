# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs regroup-mcmc for the tests; and the checksum, worked out without it."""
import json
import os
import subprocess
import tempfile

BIN = os.path.join(os.environ.get('RGT_BUILD', 'build'), 'bin', 'regroup-mcmc')
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()


def start(np, *args):
    """The finished process, with its output."""
    words = list(map(str, args))
    while '--tune' in words:  # Open MPI takes this word for its own option, wherever it stands
        i = words.index('--tune')
        words[i:i + 2] = ['--tune=' + words[i + 1]]
    return subprocess.run(MPIEXEC + ['-n', str(np), BIN, *words], capture_output=True, text=True)


def result(np, *args):
    """The JSON of a run that must succeed and, being quiet, must print nothing."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, 'result.json')
        done = start(np, '--quiet', '--json', name, *args)
        what = 'np %d, %s' % (np, ' '.join(map(str, args)))
        assert done.returncode == 0, '%s: status %d\n%s' % (what, done.returncode, done.stderr)
        assert done.stdout == '' and done.stderr == '', '%s printed: %s' % (what, done)
        with open(name) as f:
            return json.load(f)


MASK = 2**64 - 1


def philox2x64(counter, key):
    """Philox 2x64 with ten rounds (Salmon et al., SC 2011)."""
    a, b = counter
    for _ in range(10):
        product = a * 0xD2B74407B1CE6E93
        a, b = (product >> 64) ^ key ^ b, product & MASK
        key = (key + 0x9E3779B97F4A7C15) & MASK
    return a, b


def fingerprint(counter, key):
    a, b = philox2x64(counter, key)
    return a ^ b


def walk(seed, walker, samples):
    """The positions after each sample."""
    x, y = philox2x64((0, walker), seed)
    yield x, y
    for s in range(samples):
        dx, dy = philox2x64((s + 1, walker), seed)
        x = (x + (dx >> 6) - 2**57) & MASK
        y = (y + (dy >> 6) - 2**57) & MASK
        yield x, y


def checksums(seed, keys, samples, unit):
    """Walks each walker sample by sample: the checksum of where they end, and that of the cells in
    which they were after each unit; and how many units that were."""
    ends = visits = units = 0
    for walker in keys:
        path, cells = list(walk(seed, walker, walker % 32 * samples)), [0] * 64
        for at in [*range(unit, len(path) - 1, unit), len(path) - 1] if len(path) > 1 else []:
            cells[8 * (path[at][0] >> 61) + (path[at][1] >> 61)] += 1
        ends += fingerprint(path[-1], walker)
        visits += sum(fingerprint(c, walker) for c in enumerate(cells))
        units += sum(cells)
    return '%016x' % (ends & MASK), '%016x' % (visits & MASK), units


def checksum(seed, keys, samples):
    return checksums(seed, keys, samples, 1000)[0]

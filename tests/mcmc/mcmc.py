# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs regroup-mcmc for the tests; and the checksum, worked out without it."""
import json
import os
import subprocess
import tempfile

BIN = os.path.join(os.environ.get('RGT_BUILD', 'build'), 'bin', 'regroup-mcmc')
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()


def start(np, *args, limit=60):
    """The finished process, with its output."""
    return subprocess.run(MPIEXEC + ['-n', str(np), BIN, *map(str, args)], capture_output=True,
                          text=True, timeout=limit)


def result(np, *args, limit=60):
    """The JSON of a run that must succeed and, being quiet, must print nothing."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, 'result.json')
        done = start(np, '--quiet', '--json', name, *args, limit=limit)
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


def checksum(seed, keys, samples):
    """Walks each walker sample by sample."""
    total = 0
    for walker in keys:
        x, y = philox2x64((0, walker), seed)
        for s in range(walker % 32 * samples):
            dx, dy = philox2x64((s + 1, walker), seed)
            x = (x + (dx >> 6) - 2**57) & MASK
            y = (y + (dy >> 6) - 2**57) & MASK
        a, b = philox2x64((x, y), walker)
        total = (total + (a ^ b)) & MASK
    return '%016x' % total

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The options of the building blocks on the command line, with spawning and connecting out of
the reserve.

tier: quick
time: 120
beside: yes
"""
import os
import subprocess

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
PROGRAM = os.environ['RGT_BUILD'] + '/tests/test_inter_program'


def run(np, *arguments, reserve=0):
    env = dict(os.environ, RG_RESERVE=str(reserve))
    return subprocess.run([*MPIEXEC, '-n', str(np), PROGRAM, *arguments], env=env,
                          capture_output=True, text=True)


def good(expected, np, *arguments, reserve=0):
    done = run(np, *arguments, '--option1', '--option2', reserve=reserve)
    assert done.returncode == 0 and not done.stderr, (arguments, done)
    lines = [line for line in done.stdout.splitlines() if not line.startswith('RGT begin')]
    assert sorted(lines) == [expected, 'RGT inter_program tests=1 failed=0'], (arguments, done)


def bad(part, np, *arguments, reserve=0):
    done = run(np, *arguments, reserve=reserve)
    assert done.returncode != 0 and part in done.stdout + done.stderr, (arguments, done)


good('2 and 4 by split', 6, '--split=4')
good('3 and 3 by split', 6, '--split')
good('2 and 1 by split', 6, '--split=1', reserve=3)
for kind in ['spawn', 'connect']:
    for np, first, n in [(2, 1, 1), (3, 1, 2), (6, 2, 3), (8, 3, 5)]:
        good('%d and %d by %s' % (first, n, kind), np, '--%s=%d' % (kind, n),
             '--first=%d' % first, reserve=np - first)
bad('exclude each other', 2, '--split', '--spawn=1')
bad("'0' is no number of processes", 2, '--spawn=0')
bad('How many processes'.lower(), 2, '--connect')
bad('both groups need at least 1', 3, '--split=3')
bad('2 processes are wanted and 1 are in reserve', 3, '--spawn=2', reserve=1)

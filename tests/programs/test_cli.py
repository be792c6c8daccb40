#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The command lines of all programs: help, version, and what they refuse.

time: 240
beside: yes
"""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
# What a program must refuse besides an unknown option; other programs get no more than that.
BAD = {
    'regroup-info': [['word']],
    'regroup-mcmc': [['word'], ['--balance=sideways'], ['--work=play'], ['--time-scale=x'],
                     ['--time-scale=-1'], ['--walkers=-3'], ['--walkers'],
                     ['--json=/nonexistent/a.json']],
    'regroup-posterior': [['word'], ['--model=nothing'], ['--model=regression', '--tune=7'],
                          ['--model=regression', '--json=/nonexistent/a.json']],
    'regroup-bench': [['nonsense'], ['create', 'word'], ['create', '--json=/nonexistent/a.json']],
}


def run(np, program, *args):
    done = subprocess.run([*MPIEXEC, '-n', str(np), program, *args], capture_output=True, text=True)
    return done.returncode, done.stdout, run_tests.without_banner(done.stderr)


def check_refusal(program, args):
    """Status 2 and one line on standard error that begins with the program's name."""
    for np in [1, 3] if run_tests.FULL else [3]:
        status, out, err = run(np, program, *args)
        name = os.path.basename(program)
        assert (status, out) == (2, ''), (name, args, np, status, out, err)
        assert re.fullmatch(r'%s( \w+)?: .+\n' % name, err), (name, args, np, err)


def check(program, version):
    name = os.path.basename(program)
    for np in [1, 3] if run_tests.FULL else [3]:
        for option in ['--help', '-h']:
            status, out, err = run(np, program, option)
            assert (status, err) == (0, ''), (name, option, np, status, err)
            assert out.count('Usage: ' + name) == 1 and '--version' in out, (name, np, out)
        status, out, err = run(np, program, '--version')
        assert (status, out, err) == (0, '%s %s\n' % (name, version), ''), (name, np, out, err)
    for args in [['--no-such-option']] + BAD.get(name, []):
        check_refusal(program, args)


with open('include/regroup/version.h') as f:
    VERSION = re.search(r'RG_VERSION "(.*?)"', f.read()).group(1)
# regroup-run starts jobs itself: tests/recovery.
programs = sorted(p for p in glob.glob(os.environ['RGT_BUILD'] + '/bin/regroup-*')
                  if not p.endswith('-run'))
assert programs
for path in programs:
    check(path, VERSION)

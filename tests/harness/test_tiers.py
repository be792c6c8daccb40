#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The tiers of the tests: which test and which rank counts are in which, what a test is told of its
tier, and that the tier default calls every public function and names every program.

tier: quick
beside: yes
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, 'tests')
import run_tests  # noqa: E402

RUNNER = [sys.executable, 'tests/run_tests.py', '--build', os.environ['RGT_BUILD']]
TESTS = run_tests.find_tests([], [])


def runs(tests, tier):
    """The pairs of a test's path and a rank count."""
    options = argparse.Namespace(np=None, tier=tier)
    return {(t.path, np) for t in run_tests.in_tier(tests, tier) for np in t.counts(options)}


def test_sets():
    """Each tier has all of the one before; the last one has every test at all its rank counts."""
    quick, default, every = (runs(TESTS, tier) for tier in run_tests.TIERS)
    assert quick < default < every, (quick - default, default - every)
    assert every == {(t.path, np) for t in TESTS for np in (t.ranks if t.kind == '.c' else [0])}


def test_headers():
    for kind, head, quick, default in [
            ('.c', '', [3], [1, 3, 4]), ('.c', 'ranks: 2 3', [3], [3]), ('.c', 'ranks: 1 2', [2], [1, 2]),
            ('.c', 'ranks: 7 8', [7], [7]), ('.c', 'ranks: 1 2 16\n * few: 2 16', [16], [2, 16]),
            ('.c', 'tier: default', [], [1, 3, 4]), ('.c', 'tier: all', [], []), ('.py', '', [], [0]),
            ('.py', 'tier: quick', [0], [0]), ('.sh', 'tier: all', [], [])]:
        with tempfile.NamedTemporaryFile('w', suffix=kind) as f:
            f.write(' * ' + head)
            f.flush()
            test = [run_tests.Test(f.name)]
            for tier, wanted in ('quick', quick), ('default', default):
                found = sorted(np for _, np in runs(test, tier))
                assert found == wanted, (kind, head, tier, found)


def test_limits():
    """No script ends a wait after a fixed time, which would be too short on a busy machine."""
    for t in (t for t in TESTS if t.kind == '.py'):
        with open(t.path, errors='replace') as f:
            found = re.search(r"timeout=\d+[,)]|'timeout', '\d\d|monotonic\(\) \+ \d", f.read())
        assert not found, '%s: %s: wait without a limit, or for run_tests.limit(seconds)' % (t.path, found[0])


def run(*words):
    done = subprocess.run([*RUNNER, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_told():
    """A test has its tier in RGT_TIER; the last line names it. A test that is named runs in full length."""
    with tempfile.TemporaryDirectory() as folder:
        for name in 'quick', 'all':
            path = '%s/test_%s.sh' % (folder, name)
            with open(path, 'w') as f:
                f.write('#!/bin/sh\n# tier: %s\necho in $RGT_TIER; exit 1\n' % name)
            os.chmod(path, 0o755)
        paths = glob.glob(folder + '/*')
        for words, tier, count in ((), 'all', 2), (('--all',), 'all', 2), (('--quick',), 'quick', 1), \
                (('--tier', 'default'), 'default', 1):
            status, text, _ = run(*words, *paths)
            assert status == 1 and text.count('in %s\n' % tier) == count, text
            assert text.endswith('\n0 passed, %d failed (tier %s, of those named)\n' % (count, tier)), text


def test_mistakes():
    """What is no test, and a tier that is none, are one line."""
    with tempfile.NamedTemporaryFile('w', suffix='.sh') as f:
        f.write('# tier: some\n')
        f.flush()
        for path in f.name, 'README.md', 'tests', 'nowhere/test_x.c':
            status, text, said = run(path)
            assert status == 2 and not text and said.count('\n') == 1 and path in said, (status, text, said)


def text_with_helpers(test):
    """Its text, and that of the files beside and above it which it names."""
    with open(test.path) as f:
        text = f.read()
    words = set(re.findall(r'\w+', text))
    folder = os.path.dirname(test.path)
    for path in glob.glob(folder + '/*.[ch]') + glob.glob(folder + '/../*.[ch]'):
        if os.path.splitext(os.path.basename(path))[0] in words and path != test.path:
            with open(path) as f:
                text += f.read()
    return text


def test_coverage():
    """A function that only tests/fuzz calls has no test: what it does there is not looked at."""
    words = {w for t in run_tests.in_tier(TESTS, 'default') if '/fuzz/' not in t.path
             for w in re.findall(r'[\w-]+', text_with_helpers(t))}
    wanted = set()
    for header in glob.glob('include/regroup/*.h'):
        with open(header) as f:
            code = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
        wanted.update(re.findall(r'^RG_API[^;(]*?\b(rg_\w+)\(', code, re.M))
    assert len(wanted) > 200, wanted
    with open('SConstruct') as f:
        wanted.update(re.findall(r"'(regroup-[a-z]+)': \[", f.read()))
    assert not wanted - words, 'no test of the tier default names %s' % sorted(wanted - words)


for name, test in list(globals().items()):
    if name.startswith('test_'):
        test()

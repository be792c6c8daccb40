#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The harness and the runner notice what goes wrong: they report each misdeed of
tests/harness/misbehave.c once, and leave no process behind.

time: 90
beside: yes
"""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ['RGT_BUILD']
FILE = 'tests/harness/misbehave.c'
MPI = 'openmpi' if 'openmpi' in os.environ['RGT_MPIEXEC'] else 'mpich'
RUNNER = [sys.executable, 'tests/run_tests.py', '--build', BUILD, '--mpi', MPI, FILE]


def environment(misdeed):
    return dict(os.environ, MISBEHAVE=misdeed, RGT_SEED='4711')


def run(misdeed):
    done = subprocess.run(RUNNER, env=environment(misdeed), capture_output=True, text=True)
    return done.returncode, done.stdout


def last(text):
    """The last line, without the tier."""
    line, tier = re.fullmatch(r'(.*?)( \(tier all, of those named\))?', text.splitlines()[-1]).groups()
    assert tier or line == 'interrupted', text
    return line


def test_none():
    status, text = run('')
    assert (status, last(text)) == (0, '5 passed, 0 failed'), text


def test_one_rank():
    status, text = run('rank2')
    assert (status, last(text)) == (1, '4 passed, 1 failed'), text
    fails = re.findall(r'FAIL rank.*', text)
    assert len(fails) == 1, text
    assert re.fullmatch(r'FAIL rank 2 %s:\d+ misbehave/rank2: RGT_INT\(size, 3\): 4 is not 3' %
                        re.escape(FILE), fails[0]), fails
    assert 'seed 4711' in text, text
    again = re.search('^     again: (.*)$', text, re.M)[1]
    done = subprocess.run(['sh', '-c', again], env=environment('rank2'), capture_output=True, text=True)
    assert (done.returncode, last(done.stdout)) == (1, '4 passed, 1 failed') and again in done.stdout, done


def test_many_ranks():
    status, text = run('all')
    assert (status, last(text)) == (1, '4 passed, 1 failed'), text
    fails = re.findall(r'FAIL (ranks? \S+) \S+ misbehave/all: (.*)', text)
    assert [f[0] for f in fails] == ['ranks 0-3'] * 3 + ['ranks 0,2-3'] + ['ranks 0-3'], fails
    texts = [f[1] for f in fails]
    assert texts[0] == 'RGT_DBL(0.5 + off, 0.5, 0.25): 1.5 is not within 0.25 of 0.5', texts
    assert texts[1].endswith('"two lines" is not "one"'), texts
    assert re.search(r'RGT_OK\(.*\): error 3, \S', texts[2]), texts
    assert texts[4] == 'RGT_TRUE(!off): it is false', texts


def test_hang():
    status, text = run('hang')
    assert (status, last(text)) == (1, '0 passed, 1 failed'), text
    assert re.search('timed out, .*: misbehave at 4 ranks; the last test begun was misbehave/hang', text), text


def test_crash():
    for misdeed in ['crash', 'exit']:
        status, text = run(misdeed)
        assert (status, last(text)) == (1, '0 passed, 1 failed'), text
        assert 'misbehave at 4 ranks; the last test begun was misbehave/' in text, text


def test_leak():
    status, text = run('leak')
    if 'asan' in os.path.basename(BUILD):
        assert (status, last(text)) == (1, '5 passed, 1 failed'), text
        assert '77 byte(s) leaked' in text, text
    else:
        assert (status, last(text)) == (0, '5 passed, 0 failed'), text


def processes(word):
    """The commands of the processes that have `word` in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/environ' % pid, 'rb') as f:
                if word.encode() in f.read().split(b'\0'):
                    with open('/proc/%s/cmdline' % pid) as f:
                        found.append(f.read().replace('\0', ' '))
        except OSError:
            pass
    return found


def test_orphan():
    run('orphan')
    assert not processes('MISBEHAVE=orphan'), processes('MISBEHAVE=orphan')


def script(folder, name, text):
    path = os.path.join(folder, 'test_%s.sh' % name)
    with open(path, 'w') as f:
        f.write('#!/bin/sh\ncd %s\n%s\n' % (folder, text))
    os.chmod(path, 0o755)
    return path


def test_beside():
    """Two that may run at the same time do, the third follows them; each counts."""
    meet = '# beside: yes\n' \
        'touch %s; for i in $(seq 600); do [ -e %s ] && exit %d; sleep 0.1; done; exit 1'
    with tempfile.TemporaryDirectory() as folder:
        paths = [script(folder, 'third', '[ -e a ] && [ -e b ] && exit 3'),
                 script(folder, 'one', meet % ('a', 'b', 0)),
                 script(folder, 'other', meet % ('b', 'a', 77))]
        done = subprocess.run(RUNNER[:-1] + paths, capture_output=True, text=True)
    assert 'ended with status 3: test_third' in done.stdout, done.stdout
    assert last(done.stdout) == '1 passed, 1 failed, 1 skipped', done.stdout


def test_no_skips():
    with tempfile.TemporaryDirectory() as folder:
        paths = [script(folder, 'one', 'true'), script(folder, 'other', 'echo not here; exit 77')]
        done = subprocess.run(RUNNER[:-1] + ['--no-skips'] + paths, capture_output=True, text=True)
    assert 'FAIL skipped: not here' in done.stdout, done.stdout
    assert (done.returncode, last(done.stdout)) == (1, '1 passed, 1 failed'), done.stdout


def test_cannot_be_executed():
    with tempfile.TemporaryDirectory() as folder:
        paths = [script(folder, 'one', 'true'), script(folder, 'other', 'true')]
        os.chmod(paths[1], 0o644)
        done = subprocess.run(RUNNER[:-1] + paths, capture_output=True, text=True)
    assert 'FAIL test_other: ' in done.stdout and 'Permission denied' in done.stdout, done.stdout
    assert (done.returncode, last(done.stdout)) == (1, '1 passed, 1 failed'), done.stdout


def test_interrupt():
    with tempfile.TemporaryDirectory() as folder:
        beside = script(folder, 'beside', '# beside: yes\nsleep 600; sleep 600')
        # A shell's background jobs, and all they start, ignore the signal otherwise.
        runner = subprocess.Popen([*RUNNER, beside], env=environment('hang'), text=True,
                                  stdout=subprocess.PIPE,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        # The runner, mpiexec, its proxy, four ranks, the other script and what that runs.
        while len(processes('MISBEHAVE=hang')) < 9:
            time.sleep(0.05)
        runner.send_signal(signal.SIGINT)
        text = runner.communicate()[0]
        assert runner.returncode == 130 and last(text) == 'interrupted', text
        assert not processes('MISBEHAVE=hang'), processes('MISBEHAVE=hang')


def test_shared_memory():
    """What a test leaves in /dev/shm is a failure; what others leave there meanwhile is none, where the
    runner may have a /dev/shm of its own."""
    name = '/dev/shm/harness-%d' % os.getpid()
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, 'one', 'touch %s' % name)
        done = subprocess.run(RUNNER[:-1] + [path], capture_output=True, text=True)
        assert 'FAIL %s was left by test_one\n' % name in done.stdout, done.stdout
        assert (done.returncode, last(done.stdout)) == (1, '1 passed, 1 failed'), done.stdout
        if os.path.exists(name):
            os.remove(name)
            return
        path = script(folder, 'one', 'touch begun; while [ ! -e left ]; do sleep 0.02; done')
        runner = subprocess.Popen(RUNNER[:-1] + [path], stdout=subprocess.PIPE, text=True)
        while not os.path.exists(folder + '/begun'):
            time.sleep(0.02)
        for left in name, folder + '/left':
            with open(left, 'w'):
                pass
        text = runner.communicate()[0]
        os.remove(name)
        assert (runner.returncode, last(text)) == (0, '1 passed, 0 failed'), text


def test_nothing_to_run():
    done = subprocess.run(RUNNER[:-1] + ['--filter', 'no such test'], capture_output=True, text=True)
    assert (done.returncode, last(done.stdout)) == (1, '0 passed, 0 failed'), done.stdout


def test_suppressions():
    """What leaks.supp and races.supp name, the sources define: a renamed function is suppressed no
    more."""
    names = [n for kind in ['leak', 'race']
             for n in re.findall(r'^%s:(\w+)$' % kind,
                                 open('tests/harness/%ss.supp' % kind).read(),
                                 re.M)]
    text = ''.join(open(f).read() for top in ['pgroup', 'arrays', 'lb']
                   for f in glob.glob(top + '/**/*.c', recursive=True))
    missing = [n for n in names if not re.search(r'^\w[\w *]*\b%s\(' % n, text, re.M)]
    assert names and not missing, missing


for name, test in list(globals().items()):
    if name.startswith('test_'):
        test()

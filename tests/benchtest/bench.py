# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What the tests of regroup-bench share."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

BENCH = os.path.join(os.environ.get('RGT_BUILD', 'build'), 'bin', 'regroup-bench')
BUILD = os.path.dirname(os.path.dirname(BENCH))
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()

failures = []


def check(good, *what):
    if not good:
        failures.append(' '.join(str(w) for w in what))
    return good


def near(a, b, tolerance=1e-6):
    return a is not None and abs(a - b) <= tolerance * max(abs(a), abs(b))


def skip_sanitized():
    if 'asan' in BUILD or 'tsan' in BUILD:
        print('a preloaded library must come behind the sanitizer')
        sys.exit(77)


def script(path, *args):
    return subprocess.run([sys.executable, path, *args], capture_output=True, text=True)


def bench(np, *args, cpus=None, preload=None, **env):
    """Status, output and errors; np = 0: without mpiexec. cpus: where it may run. preload: a library
    of the build."""
    command = MPIEXEC + ['-n', str(np)] if np else []
    if preload:
        path = os.path.join(os.path.dirname(BENCH), '..', 'lib', preload)
        command += ['env', 'LD_PRELOAD=' + os.path.abspath(path)]
    command += [BENCH, *args]
    done = subprocess.run(command, capture_output=True, text=True,
                          env=dict(os.environ, **env),
                          preexec_fn=cpus and (lambda: os.sched_setaffinity(0, cpus)))
    return done.returncode, done.stdout, run_tests.without_banner(done.stderr)


def result(np, *args, **kind):
    """What the JSON file of a run that succeeds holds, and its table."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'r.json')
        status, out, err = bench(np, *args, '--json', path, **kind)
        check(status == 0 and not err, args, status, err)
        with open(path) as f:
            return json.load(f), out


def refused(np, args, words, **kind):
    """Status 2, nothing on standard output, and one line with these words."""
    status, out, err = bench(np, *args, **kind)
    check(status == 2 and not out and err.count('\n') == 1 and words in err,
          np, args, kind, 'not refused with', words, ':', status, out, err)


def main(module):
    for name, test in [(n, t) for n, t in module.items() if n.startswith('test_')]:
        before = len(failures)
        test()
        print('%-24s %s' % (name, 'ok' if len(failures) == before else 'FAILED'))
    for line in failures:
        print(line)
    sys.exit(1 if failures else 0)

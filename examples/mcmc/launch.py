# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Starts regroup-mcmc under mpiexec for demo.py and paper.py."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAMES = {'none': 'no balancing', 'sync': 'synchronous, every %d units', 'async': 'asynchronous'}


def policy_name(policy, interval=None):
    return NAMES[policy] % interval if policy == 'sync' else NAMES[policy]


def run(folder, ranks, *args, limit=120):
    """The result of one run. The program's progress goes to our standard error."""
    program = os.path.join(folder, 'regroup-mcmc')
    mpiexec = shutil.which('mpiexec.mpich') or shutil.which('mpiexec')
    if not mpiexec or not os.path.exists(program):
        sys.exit('%s is missing: ./run build makes it' % (program if mpiexec else 'mpiexec'))
    with tempfile.TemporaryDirectory() as temporary:
        result = os.path.join(temporary, 'result.json')
        command = [mpiexec, '-n', str(ranks), program, '--json', result, *map(str, args)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            end(process)
            sys.exit('%s did not end within %d s' % (' '.join(command), limit))
        except KeyboardInterrupt:
            end(process)
            sys.exit(130)
        if status:
            sys.exit('%s ended with status %d' % (' '.join(command), status))
        with open(result) as f:
            return json.load(f)


def end(process):
    """mpiexec ends its ranks when it is asked to."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def output_folder(name):
    folder = os.path.join(ROOT, 'build', name)
    os.makedirs(folder, exist_ok=True)
    return folder


def shown(path):
    """A path as a user in the present directory would name it."""
    short = os.path.relpath(path)
    return path if short.startswith('..') else short


def table(rows):
    """Lines with columns as wide as their widest entry; the first one to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return '\n'.join('  '.join(text.ljust(w) if i == 0 else text.rjust(w)
                               for i, (text, w) in enumerate(zip(row, widths))) for row in rows)

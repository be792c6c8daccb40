# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What the tests here start, as run_tests.py says. Guards use the protocol of MPICH's launcher: under
another one, each test that imports this is skipped."""
import os
import random
import re
import signal
import subprocess
import sys

import deaths

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'mpi'))
import preload  # noqa: E402,F401
import run_tests  # noqa: E402

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
BUILD = os.environ['RGT_BUILD']
FULL = run_tests.FULL
SEED = int(os.environ.get('RGT_SEED', random.randrange(2**31)))
ONE = deaths.Node(MPIEXEC)
TWO = deaths.Cliques(MPIEXEC)
OVER_UCX = 'ch4:ucx' in run_tests.launcher_text()
SURVIVED = [ONE, TWO] if OVER_UCX else [ONE]  # where a death is
# What rg_init says of an MPICH that is not over UCX; of one over UCX nothing is expected.
UNKNOWN_MPI = re.compile(r'^(?!)' if OVER_UCX else
                         r'^\[regroup 0\] warning: RG_SURVIVE=1: calls of this MPI cannot .*\n', re.M)

if 'openmpi' in MPIEXEC[0]:
    print("guards use the protocol of MPICH's launcher")
    sys.exit(77)
print('seed', SEED)


def path(program):
    """Of what was built: tests/..., bin/..."""
    return os.path.join(BUILD, program)


def command(where, np, program, *args):
    return [*where.begin(np), '-n', str(np), path(program), *map(str, args)]


def hosts(folder, nodes, each=1):
    """Options by which mpiexec has a process of its own for each node, all on this host. The folder is
    for a file."""
    starter = os.path.join(folder, 'starter')
    with open(starter, 'w') as f:  # -x HOST COMMAND
        f.write('#!/bin/sh\nshift 2\nexec sh -c "exec $*"\n')
    os.chmod(starter, 0o755)
    return ['-launcher', 'ssh', '-launcher-exec', starter, '-hosts',
            ','.join('n%d:%d' % (i, each) for i in range(nodes))]


def output(words, env, limit=180):
    """Status and output of a command."""
    done = subprocess.run(words, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=run_tests.limit(limit))
    return done.returncode, UNKNOWN_MPI.sub('', done.stdout)


def run(np, program, *args, where=ONE, env=deaths.ENV):
    """Status and output of a job, without the lines for deaths that it has survived."""
    status, text = output(command(where, np, program, *args), dict(env, **where.env))
    return status, deaths.SURVIVED.sub('', text)


def run_and_kill(np, program, *args, life, most=3, where=ONE):
    """Kills some ranks of the job in the first seconds, not more than so many. Returns status, output,
    how many were killed, and whether a death before rg_init had returned everywhere has ended it."""
    before = set(os.listdir('/dev/shm'))
    status, text, killed = deaths.one_run(command(where, np, program, *args), deaths.ENV,
                                          random.randint(1, min(most, np - 1)), life, 200, where)
    early = deaths.is_early(status, text, where.launchers)
    if early:
        deaths.forget_mpich_files(before)
    return status, text, killed, early


def start(words, env):
    """A command, for end_of."""
    return subprocess.Popen(words, env=env, **deaths.READ)


def end_of(job, limit=60):
    """Status and output; what does not end by then is killed."""
    try:
        text = job.communicate(timeout=run_tests.limit(limit))[0]
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        raise
    return job.returncode, text


class Watched:
    """A started command whose output is read while it runs."""

    def __init__(self, process, limit):
        self.process, self.limit, self.text = process, limit, ''

    def wait_for(self, word):
        while word not in self.text:
            line = self.process.stdout.readline()
            assert line, (word, self.text)
            self.text += line

    def end(self):
        """Status and all output."""
        status, text = end_of(self.process, self.limit)
        self.text += text
        return status, self.text

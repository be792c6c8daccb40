# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs the programs fault_*.c and fault_jacobi.F90, which use MPI's fault-tolerance extension, with
libregroup-mpi.so preloaded, and kills processes at random moments: by their own hand, where they call
MPI or after some microseconds (mortal.h), from outside, or all of a node at once:

    python3 tests/mpi/fault_soak.py --build build/release --runs 100
    python3 tests/mpi/fault_soak.py --setting three --seed 1234 --runs 1    # one run again

Settings: one node; three pretended nodes; slurm: three nodes of Slurm of which whole ones are lost.
A run is right if it ends by itself, if each survivor has the result of a run that nothing disturbs,
and if nothing is left behind.
"""
import argparse
import collections
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'recovery'))
import deaths  # noqa: E402
import slurm_soak  # noqa: E402
import soak  # noqa: E402
from deaths import cluster, run_tests, slurm  # noqa: E402

# How much each has to do, so that it takes about a second.
ROUNDS = {'ring': 150, 'workers': 300, 'stencil': 150, 'libraries': 300, 'threads': 150, 'jacobi': 400,
          'jacobi08': 400, 'respawn': 150}
FILES = {'respawn': 'stencil'}  # the programs' where the name is another one
RESERVE = {'respawn': 2}  # of the processes; the others are at least 4, and not all on one node
FORTRAN = {'jacobi': [], 'jacobi08': ['-DF08']}
RESULT = re.compile(r'^RESULT ([0-9A-Fa-f]{16}) (\d+) 0 (\d+)$', re.M)
# What Slurm's machine has not answered in time, where it has too much to do.
LOST = re.compile(r'^regroup: node \S+ is lost \(ranks? (\d+)(?:-(\d+))?\)', re.M)
# The same, beside the node that is lost.
NO_MAJORITY = re.compile(r'^regroup: the node of rank .* which is no majority$', re.M)
SEEDS = 3  # of the programs: runs of the same seed have the same result


def can_compile():
    return shutil.which('mpifort.mpich') and shutil.which('gfortran')


def compile_fortran(folder):
    """By the modules mpi and mpi_f08."""
    for name, options in FORTRAN.items():
        subprocess.run(['mpifort.mpich', *options, '-J' + folder, os.path.join(HERE, 'fault_jacobi.F90'), '-o',
                        '%s/fault_%s' % (folder, name)], check=True, capture_output=True)


class Run:
    """What is drawn for one."""

    def __init__(self, seed, names, np):
        random.seed(seed)
        self.name = names[seed % len(names)]
        self.reserve = RESERVE.get(self.name, 0)
        self.np = max(random.randint(*np), 3 * self.reserve)
        self.seed = random.randrange(SEEDS)
        self.how = random.choice(['point', 'time', 'outside'])
        workers = self.np - self.reserve
        self.deaths = 1 if self.reserve and self.how == 'outside' else random.randint(1, min(3, workers - 1))
        self.ranks = random.sample(range(workers), self.deaths)
        self.parts = [random.random() for _ in self.ranks]  # of the life of a run
        self.node = random.randrange(slurm_soak.NODES)

    def plan(self, life, points):
        """The program's own deaths."""
        if self.how == 'point':
            moments = ['%d' % max(1, part * points) for part in self.parts]
        elif self.how == 'time':
            moments = ['%dus' % (part * life * 1e6) for part in self.parts]
        else:
            return 'none'
        return ','.join('%d:%s' % pair for pair in zip(self.ranks, moments))

    def arguments(self, plan):
        return [str(self.seed + 1), str(ROUNDS[self.name]), plan]

    def variables(self, library):
        return {'LD_PRELOAD': library, 'RG_RESERVE': str(self.reserve)}

    def living(self, killed):
        """How many have a result at least: the dead may have been in reserve, which may be used up."""
        return self.np - self.reserve - killed


class Soak:
    def __init__(self, where, build, names, most=8, limit=100):
        self.where, self.names, self.np, self.limit = where, names, (3, most), limit
        self.build = os.path.abspath(build)
        self.library = self.build + '/lib/libregroup-mpi.so'
        self.fortran = None  # the folder of these programs
        self.lives = {}  # by program and ranks: seconds, points
        self.expected = {}  # by program and seed
        self.counts = collections.Counter()

    def path(self, name):
        return '%s/fault_%s' % (self.fortran if name in FORTRAN else self.build + '/tests', FILES.get(name, name))

    def run(self, seed):
        """Returns what is wrong, or ''."""
        drawn = Run(seed, self.names, self.np)
        key = drawn.name, drawn.np
        if key not in self.lives:
            began = time.monotonic()
            wrong, points = self.attempt(drawn, 'none', 0, 0)
            if wrong:
                return 'undisturbed: ' + wrong
            self.lives[key] = time.monotonic() - began, points
        random.seed(seed)
        life, points = self.lives[key]
        plan = drawn.plan(life, points)
        outside = drawn.deaths if drawn.how == 'outside' else 0
        return self.attempt(drawn, plan, outside, life)[0]

    def attempt(self, drawn, plan, outside, life):
        """What is wrong with a run, or ''; the most points that a process has passed."""
        mark = 'RGT_FAULT=%d-%d' % (os.getpid(), time.monotonic_ns())
        with tempfile.TemporaryDirectory(prefix='fault-') as folder:
            env = dict(deaths.ENV, TMPDIR=folder, **dict([mark.split('=')]))
            shared = deaths.shared_files()
            variables = [w for pair in drawn.variables(self.library).items() for w in ('-genv', *pair)]
            words = [*self.where.begin(drawn.np), *variables, '-n', str(drawn.np), self.path(drawn.name),
                     *drawn.arguments(plan)]
            status, text, killed = deaths.one_run(words, env, outside, life, self.limit, self.where, folder)
            killed += drawn.deaths if plan != 'none' else 0
            wrong, points = self.judge(drawn, status, text, killed, drawn.living(killed))
            if killed:  # perhaps in MPI_Init
                deaths.forget_mpich_files({os.path.basename(path) for path in shared})
            wrong = wrong or soak.left_over(mark, shared, folder, None)
        said = '%s on %d ranks (%s), plan %s, %d from outside, status %s, %s: %s' % (
            drawn.name, drawn.np, self.where.name, plan, outside, status, wrong, text)
        return wrong and said, points

    def judge(self, drawn, status, text, killed, living):
        if status is None:
            return 'no end within %d s' % self.limit, 0
        found = [(m[1].upper(), int(m[2]), int(m[3])) for m in RESULT.finditer(text)]
        self.counts['kills'] += len(deaths.SURVIVED.findall(text))
        if killed and deaths.early_end(status, text, self.where.launchers):
            self.counts['ended at the start'] += 1
            return '', 0
        expected = self.expected.setdefault((drawn.name, drawn.seed), found[0][0]) if found else None
        if status != 0 or 'WRONG' in text or len(found) < max(1, living):
            return 'no right end', 0
        if any(one[0] != expected or one[1] > killed for one in found):
            return 'another result than %s' % expected, 0
        self.counts['runs of ' + drawn.name] += killed > 0
        return '', max(one[2] for one in found)


# --- Slurm ------------------------------------------------------------------------------------


class Program:
    """As slurm_soak takes one."""
    program = '/usr/bin/env'  # of the ranks alone

    def __init__(self, path, variables, arguments):
        self.path, self.arguments = path, [*map('='.join, variables.items()), path, *arguments]


class SlurmSoak(Soak):
    """Each run has a Slurm of its own, of which a node is lost in a third of them."""

    def __init__(self, *how, **more):
        super().__init__(*how, **more)
        self.np = (slurm_soak.NODES * slurm_soak.EACH,) * 2  # a node has always as many

    def attempt(self, drawn, plan, outside, life):
        node = drawn.node if outside else None
        kind = Program(self.path(drawn.name), drawn.variables(self.library), drawn.arguments(plan))
        with slurm.Slurm(slurm_soak.NODES, SlurmdTimeout=3600) as made, tempfile.TemporaryFile('w+') as output:
            job = slurm_soak.Job(made, self.build, kind, output)
            job.name = os.path.basename(kind.path)[:15]
            wrong = self.watch(job, node, drawn.parts[0] * life)
            output.seek(0)
            text = output.read()
            points = 0
            if not wrong:
                lost = slurm_soak.EACH if outside else drawn.deaths if plan != 'none' else 0
                late = sum(int(b or a) - int(a) + 1 for a, b in LOST.findall(text))
                if late > (slurm_soak.EACH if outside else 0):
                    self.counts['nodes given up'] += 1
                    lost += late
                wrong, points = self.judge(drawn, job.process.returncode, text, lost, drawn.living(lost))
            if wrong and outside and NO_MAJORITY.search(text):
                self.counts['without a majority'] += 1
                wrong = ''
            if wrong and slurm.RESET in text:
                self.counts['ended by srun'] += 1
                wrong = ''
            if not wrong and not job.wait(lambda: job.is_clean(node)):
                wrong = 'left behind: %s' % deaths.left_behind(job.mark)
            text += made.logs() if wrong else ''
        said = '%s, plan %s, node %s lost, status %s, %s: %s' % (
            drawn.name, plan, node, job.process.returncode, wrong, text)
        return wrong and said, points

    def watch(self, job, node, moment):
        if not job.wait(job.is_everywhere):
            return 'not all nodes have begun'
        if node is not None:
            time.sleep(moment)
            if job.has_ended():
                self.counts['had ended before'] += 1
            else:
                job.made.lose(node)
                self.counts['kills'] += slurm_soak.EACH
                self.counts['nodes lost'] += 1
        return '' if job.wait(job.has_ended) else 'no end within %d s' % slurm_soak.LIMIT


# --- the command line ---------------------------------------------------------------------------


@contextlib.contextmanager
def soak_of(setting, build, mpiexec, names=tuple(ROUNDS), **how):
    """cluster.Unavailable: not on this machine."""
    kind = {'one': 'node', 'cliques': 'cliques', 'three': 'namespaces'}.get(setting)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        names = [n for n in names if n not in FORTRAN or can_compile()]
        where = stack.enter_context(deaths.nodes_of(kind, mpiexec, 3)) if kind else deaths.Node([])
        made = (Soak if kind else SlurmSoak)(where, build, names, **how)
        if set(names) & set(FORTRAN):
            compile_fortran(folder)
            made.fortran = folder
        yield made


def main():
    p = argparse.ArgumentParser(description="Random kills of programs with MPI's fault tolerance.")
    p.add_argument('--build', default='build/release', help='where they were built')
    p.add_argument('--setting', choices=['one', 'cliques', 'three', 'slurm'], default='one')
    p.add_argument('--runs', type=int, default=100)
    p.add_argument('--seed', type=int, default=random.randrange(2**31),
                   help='of the first run; the next one has the next')
    p.add_argument('--programs', default=','.join(ROUNDS), help='what is run')
    p.add_argument('--go-on', action='store_true', help='also after a run that was not right')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    a = p.parse_args()
    wrong, seed = 0, a.seed
    with soak_of(a.setting, a.build, a.mpiexec.split(), a.programs.split(',')) as made:
        with contextlib.suppress(KeyboardInterrupt):
            while seed < a.seed + a.runs and (a.go_on or not wrong):
                said = made.run(seed)
                wrong += bool(said)
                if said:
                    print('seed %d: %s' % (seed, said), flush=True)
                seed += 1
    print('%s, seeds %d to %d, %d wrong: %s' % (a.setting, a.seed, seed - 1, wrong, dict(made.counts)))
    return 1 if wrong else 0


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except cluster.Unavailable as why:
        print(why)
        sys.exit(77)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Starts a program that survives, on one node or several pretended ones, kills some of its ranks at
random moments, and checks how it ended and what it has left behind."""
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cluster'))
import cluster  # noqa: E402
import faults  # noqa: E402
import slurm  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

ENV = dict(os.environ, RG_SURVIVE='1', UCX_TLS='tcp,self')
# A job in a session of its own, all of whose output is read.
READ = dict(text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)

GUARDS = 'regroup-guard', 'regroup-noded'

# --- where a job runs ---------------------------------------------------------------------


def children(pid):
    """Processes by the parent's id."""
    found = []
    for other in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % other) as f:
                if int(f.read().rsplit(')', 1)[1].split()[1]) == pid:
                    found.append(int(other))
        except OSError:
            pass
    return found


def ranks_of(launcher, name):
    """The ranks of a job: processes of that name whose parent is a guard."""
    parents, names, mine = {}, {}, set()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % pid) as f:
                comm, rest = f.read().split('(', 1)[1].rsplit(')', 1)
            state, parent = rest.split()[:2]
        except (OSError, IndexError):
            continue
        if state != 'Z':
            parents[int(pid)], names[int(pid)] = int(parent), comm
    for pid in parents:
        up = pid
        while up and up != launcher:
            up = parents.get(up, 0)
        if up and names[pid] == name and names.get(parents[pid]) in GUARDS:
            mine.add(pid)
    return sorted(mine)


def rank_of(pid):
    try:
        with open('/proc/%d/environ' % pid, 'rb') as f:
            return int(re.search(rb'(?:^|\0)PMI_RANK=(\d+)\0', f.read())[1])
    except (OSError, TypeError):
        return None


class Node:
    """One node, on which all processes live."""
    name, env, count = 'node', {}, 1
    launchers = 1  # mpiexec's own processes, whose guards know of each other

    def __init__(self, mpiexec):
        self.mpiexec = mpiexec

    def begin(self, np):
        """The beginning of a command for so many ranks."""
        return self.mpiexec

    def ranks(self, launcher, name):
        """The processes of that name in the launcher's job."""
        return ranks_of(launcher, name)

    def kill(self, job):
        os.killpg(job.pid, signal.SIGKILL)

    def victims(self, living):
        """The processes to kill at once."""
        return [random.choice(living)] if living else []


class Cliques(Node):
    """Nodes that MPI pretends to have: it distributes the ranks in turn."""
    name = 'cliques'

    def __init__(self, mpiexec, count=2):
        super().__init__(mpiexec)
        self.count, self.env = count, {'MPIR_CVAR_NUM_CLIQUES': str(count)}

    def node_of(self, rank):
        return rank % self.count

    def victims(self, living):
        one = super().victims(living)
        ranks = {pid: rank_of(pid) for pid in living}
        if not one or random.randrange(3) or None in ranks.values():
            return one
        node = self.node_of(ranks[one[0]])
        return [pid for pid in living if self.node_of(ranks[pid]) == node]


class Namespaces(Cliques):
    """Nodes with namespaces of their own, and TCP between them."""
    name = 'namespaces'

    def __init__(self, mpiexec, nodes):
        super().__init__(mpiexec, len(nodes.nodes))
        self.nodes, self.env = nodes, dict(nodes.environment(), UCX_NET_DEVICES='lo')
        self.launchers = self.count

    def begin(self, np):
        self.each = -(-np // self.count)
        command = self.nodes.mpiexec(np, self.each)
        return command[:command.index('-n')]

    def node_of(self, rank):
        return rank // self.each


class SlurmNodes(Namespaces):
    """Nodes of Slurm, on which one job runs at a time."""
    name = 'slurm'

    def __init__(self, made):
        super().__init__([], made)
        self.env = dict(made.environment(), RG_OVERSUBSCRIBED='yes')

    def ranks(self, launcher, name):
        found = [pid for node in range(self.count) for pid in self.nodes.faults.named(node, name)]
        return [pid for pid in found if faults.name_of(slurm.parent_of(pid) or 0) in GUARDS]

    def kill(self, job):
        """srun is no child of this process."""
        for node in range(self.count):
            self.nodes.lose(node)
        self.nodes.login.close()
        super().kill(job)


@contextlib.contextmanager
def nodes_of(kind, mpiexec, count=2):
    """Where jobs are to run. cluster.Unavailable: this machine cannot."""
    if kind == 'slurm':
        with slurm.Slurm(count) as made:
            yield SlurmNodes(made)
        return
    if kind != 'namespaces':
        yield Cliques(mpiexec, count) if kind == 'cliques' else Node(mpiexec)
        return
    with cluster.Nodes(count) as nodes:
        yield Namespaces(mpiexec, nodes)


# --- a run --------------------------------------------------------------------------------


def one_run(command, env, kills, life, limit, where=Node([]), cwd=None, moments=None):
    """Kills `kills` times in the first `life` seconds, but never all. Returns status (None: no
    end), output, and how many were killed. moments gets when, in seconds, and how many."""
    planned = sorted(random.uniform(0, life) for _ in range(kills))
    np = int(command[command.index('-n') + 1])
    name, killed = os.path.basename(command[command.index('-n') + 2])[:15], 0
    job = subprocess.Popen(command, env=dict(env, **where.env), cwd=cwd, **READ)
    began = time.monotonic()
    for moment in planned:
        time.sleep(max(0, began + moment - time.monotonic()))
        before, victims = killed, where.victims(where.ranks(job.pid, name))
        for pid in victims if killed + len(victims) < np else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        if moments is not None and killed > before:
            moments.append((time.monotonic() - began, killed - before))
    try:
        output = job.communicate(timeout=run_tests.limit(limit))[0]
        return job.returncode, output, killed
    except subprocess.TimeoutExpired:
        where.kill(job)
        return None, job.communicate()[0], killed


# --- how it ended -------------------------------------------------------------------------


# What MPI, or UCX when it connects, says when it ends a job, or rg_init of MPI's error.
CUT = (r'Fatal error in |Assertion failed in file|internal ABORT|: rg_init: |'
       r'UCX +ERROR .*connect.*Connection refused')


OTHER = 15, ''  # MPI_ERR_OTHER in MPI_Init, whose text Hydra has lost


def forgets_status():
    """Whether the launcher is MPICH 4.2's: where two processes of a node end almost at once by a signal,
    as all do after the first, its proxy sometimes takes 0 for the status of both, and mpiexec ends
    with 0. Programs of MPI alone get that as well."""
    return re.search(r'HYDRA.*\n +Version: +4\.2\.', run_tests.launcher_text()) is not None


FORGETS = forgets_status()


def is_loss(status):
    """Whether it can be the status of a job that was lost. The lines that it printed are to tell."""
    return status != 0 or FORGETS


# What a guard says of a death that the job survives.
SURVIVED = re.compile(r'^(?:\[\d+\] )?regroup: rank \d+ was ended by signal \d+ \([^)]*\)'
                      r'(?:; \d+ go on| after rg_finalize)\n', re.M)


def lines_of(text):
    """Where a guard says that the job ends because of a death at the start."""
    return len(re.findall(r'^(?:\[\d+\] )?regroup: rank \S+ was ended by .* before rg_init had '
                          r'returned everywhere: the job ends$', text, re.M))


def early_end(status, text, most=1):
    """Of a job that a death before rg_init had returned everywhere has ended: 'early', with one
    clear line (on several nodes one of each that lost a process); 'cut': MPI in another process has
    seen it first, and aborted the job before the line was out. Else None."""
    lines = lines_of(text)
    if is_loss(status) and 1 <= lines <= most:
        return 'early'
    if is_loss(status) and lines == 0 and (re.search(CUT, text) or (status, text) == OTHER):
        return 'cut'
    return None


def is_cut_at_the_end(text):
    """Whether Hydra itself has failed: a process was killed while it answered that one's MPI_Finalize."""
    return 'fn_finalize' in text and 'error sending PMI response' in text


def is_early(status, text, most=1):
    return early_end(status, text, most) is not None


# --- what is left behind ------------------------------------------------------------------


def left_behind(mark):
    """Processes that have the mark in their environment."""
    left = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/environ' % pid, 'rb') as f:
                if mark.encode() in f.read().split(b'\0'):
                    left.append(int(pid))
        except OSError:
            pass
    return left


def wait_gone(mark, seconds=5):
    """A killed process needs a moment to go."""
    end = time.monotonic() + run_tests.limit(seconds)
    while left_behind(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return left_behind(mark)


def unused(paths):
    """Those of the files that no process has mapped or open: those of other tests' jobs are in use."""
    paths = set(paths)
    for pid in filter(str.isdigit, os.listdir('/proc')) if paths else []:
        try:
            with open('/proc/%s/maps' % pid) as f:
                text = f.read()
            fds = ['/proc/%s/fd/%s' % (pid, fd) for fd in os.listdir('/proc/%s/fd' % pid)]
            opened = {os.readlink(fd) for fd in fds}
        except OSError:
            continue
        paths = {p for p in paths if p not in text and p not in opened}
    return paths


def shared_files():
    """Files that a job may have outside its own folder, which is its TMPDIR too. Those of UCX and of
    Open MPI are not from here: the transport is TCP."""
    return {'/dev/shm/' + n for n in os.listdir('/dev/shm') if re.match('mpich|regroup', n)}


def is_mpich_start(path):
    return path.startswith('/dev/shm/mpich_shar_tmp')


def forget_mpich_files(before, age=0.3):
    """MPICH has a file in /dev/shm while MPI_Init runs: it stays when a rank is killed then, with
    a guard or without. Removes those that no process uses, once they are so old that a job of
    another test is not just about to; returns how many."""
    new = {p for p in shared_files() if is_mpich_start(p)} - {'/dev/shm/' + n for n in before}
    count = 0
    if new:
        time.sleep(age)
    for path in unused(new):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
            count += 1
    return count

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Starts a program that survives, kills some of its ranks at random moments, and says what came
of it. By itself: runs storm (storm.c), example-recover and relief (relief.c: with processes in
reserve) again and again, one to three ranks killed in each, uniformly over the run's life, start
and end included, until the time is up or a run was not right:

    python3 tests/recovery/soak.py --build build/release --seconds 3600
    python3 tests/recovery/soak.py --nodes cliques      # on two pretended nodes
    python3 tests/recovery/soak.py --nodes namespaces   # the same, as docs/cluster.md makes them

On two nodes some kills are of all ranks of one node at once.
"""
import argparse
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

ENV = dict(os.environ, RG_SURVIVE='1', UCX_TLS='tcp,self')


def ranks_of(launcher, name):
    """The ranks of a job: processes of that name whose parent, the guardian, has it too."""
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
        if up and names[pid] == name and names.get(parents[pid]) == name:
            mine.add(pid)
    return sorted(mine)


def forget_mpich_files(before):
    """MPICH has a file in /dev/shm while MPI_Init runs: it stays when a rank is killed then, with
    guardians or without."""
    names = {n for n in set(os.listdir('/dev/shm')) - before if n.startswith('mpich_shar_tmp')}
    for pid in filter(str.isdigit, os.listdir('/proc')) if names else []:
        try:
            with open('/proc/%s/maps' % pid) as f:
                text = f.read()
            names = {n for n in names if n not in text}  # a neighbour's is in use
        except OSError:
            pass
    for name in names:
        try:
            os.remove('/dev/shm/' + name)
        except FileNotFoundError:
            pass


def rank_of(pid):
    try:
        with open('/proc/%d/environ' % pid, 'rb') as f:
            return int(re.search(rb'(?:^|\0)PMI_RANK=(\d+)\0', f.read())[1])
    except (OSError, TypeError):
        return None


class Node:
    """One node, on which everybody lives."""
    name, env = 'node', {}

    def __init__(self, mpiexec):
        self.mpiexec = mpiexec

    def begin(self, np):
        """The beginning of a command for so many ranks."""
        return self.mpiexec

    def victims(self, living):
        """Whom to kill at once."""
        return [random.choice(living)] if living else []


class Cliques(Node):
    """Nodes that MPI pretends to have: it deals the ranks out in turn."""
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

    def begin(self, np):
        self.each = -(-np // self.count)
        command = self.nodes.mpiexec(np, self.each)
        return command[:command.index('-n')]

    def node_of(self, rank):
        return rank // self.each


def one_run(command, env, kills, life, limit, where=Node([])):
    """Kills `kills` times in the first `life` seconds, but never all. Returns status (None: no
    end), output, and how many were killed."""
    moments = sorted(random.uniform(0, life) for _ in range(kills))
    np = int(command[command.index('-n') + 1])
    name, killed = os.path.basename(command[command.index('-n') + 2])[:15], 0
    job = subprocess.Popen(command, env=dict(env, **where.env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, start_new_session=True)
    began = time.monotonic()
    for moment in moments:
        time.sleep(max(0, began + moment - time.monotonic()))
        victims = where.victims(ranks_of(job.pid, name))
        for pid in victims if killed + len(victims) < np else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    try:
        output = job.communicate(timeout=limit)[0]
        return job.returncode, output, killed
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        return None, job.communicate()[0], killed


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
    end = time.monotonic() + seconds
    while left_behind(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return left_behind(mark)


def is_early(status, text):
    """A death before rg_init had returned everywhere: one clear error, and a status."""
    return bool(status) and ('before rg_init' in text or 'Fatal error in PMPI_' in text or
                             'Fatal error in internal_' in text or 'rg_init: MPI_' in text or
                         ': rg_init: ' in text)


ENDS = 'well', 'early', 'lost'


class Storm:
    """storm: everything that is done with groups."""
    name = 'tests/storm'

    def __init__(self, seed, np):
        self.rounds = random.choice([500, 1500])
        self.arguments = [str(seed), str(self.rounds)]

    def life(self, np, far):
        return (0.5 if far else 0.15) + self.rounds * np / (2000 if far else 6000)  # as long as it runs

    def result(self, np, text):
        """Survivors, deaths and milliseconds, or None."""
        found = re.search(r'^RESULT %d (\d+) (\d+) ([\d.]+)' % self.rounds, text, re.M)
        return found and (int(found[1]), int(found[2]), float(found[3]))


class Recover:
    """example-recover: arrays, whose checksum does not depend on who dies."""
    name = 'bin/example-recover'
    arguments = ['--points', '64', '--phases', '40', '--steps', '10']
    checksum = None

    def __init__(self, seed, np):
        pass

    def life(self, np, _):
        return 0.15 + 0.1 * np

    def result(self, np, text):
        found = re.search(r'^checksum (\w+): .* (\d+) of \d+ ranks, .*\(([\d.]+) s lost', text, re.M)
        if not found or found[1] != self.checksum:
            return None
        return int(found[2]), np - int(found[2]), 0


class Relief:
    """relief: the dead are replaced as long as there is somebody in reserve."""
    name = 'tests/relief'
    rounds = 400
    checksum = None

    def __init__(self, seed, np):
        aside = random.randint(1, np // 2)
        self.workers = np - aside
        self.arguments = [str(seed), str(self.rounds), str(aside)]

    def life(self, np, _):
        return 0.2 + self.rounds * np / 1500

    def result(self, np, text):
        found = re.search(r'^RELIEF \d+ (\w+) (\d+) of', text, re.M)
        if not found or found[1] != self.checksum:
            return None
        return np - max(0, self.workers - int(found[2])), max(0, self.workers - int(found[2])), 0

    def is_lost(self, status, killed, text):
        """All that had the array were killed: that is said."""
        return status == 4 and 'LOST: ' in text and killed >= self.workers


def prepare(mpiexec, build):
    """What the undisturbed programs say."""
    text = subprocess.run([*mpiexec, '-n', '2', os.path.join(build, Relief.name), '1',
                           str(Relief.rounds), '1'], stdout=subprocess.PIPE, text=True,
                          timeout=180).stdout
    Relief.checksum = re.search(r'^RELIEF \d+ (\w+)', text, re.M)[1]
    text = subprocess.run([*mpiexec, '-n', '1', os.path.join(build, Recover.name),
                           *Recover.arguments], stdout=subprocess.PIPE, text=True, timeout=180).stdout
    Recover.checksum = re.search(r'^checksum (\w+)', text, re.M)[1]


KINDS = {'storm': Storm, 'recover': Recover, 'relief': Relief}
OFTEN = ['storm', 'storm', 'recover', 'relief', 'relief']


def storm(where, build, seed, limit=300, kinds=OFTEN):
    """One run, drawn by the seed. Returns how it ended (one of ENDS, or what is wrong), how
    many were killed, and the longest recovery in milliseconds (0: not known)."""
    random.seed(seed)
    mark, before = 'RGT_SOAK=%d-%d' % (os.getpid(), seed), set(os.listdir('/dev/shm'))
    np, far = random.choice([2, 3, 4, 6, 8]), isinstance(where, Cliques)
    program = KINDS[random.choice(['storm'] if far else kinds)](seed, np)
    status, text, killed = one_run(
        [*where.begin(np), '-n', str(np), os.path.join(build, program.name), *program.arguments],
        dict(ENV, **dict([mark.split('=')])), random.randint(1, min(3, np - 1)),
        program.life(np, far), limit, where)
    if status is None:
        return 'no end within %d s: %s' % (limit, text), killed, 0
    left, early, result = wait_gone(mark), is_early(status, text), program.result(np, text)
    if early:
        forget_mpich_files(before)
    # Those of UCX and of Open MPI are not from here: the transport is TCP.
    files = {n for n in set(os.listdir('/dev/shm')) - before
             if re.match('mpich|regroup', n) and not n.startswith('mpich_shar_tmp')}
    if left or files:
        return 'left behind: %s %s' % (left, sorted(files)), killed, 0
    if status == 0 and result and result[0] + result[1] == np and result[1] <= killed:
        return 'well', killed, result[2]
    if early or (isinstance(program, Relief) and program.is_lost(status, killed, text)):
        return 'early' if early else 'lost', killed, 0
    return '%s, %d ranks, status %s: %s' % (program.name, np, status, text), killed, 0


@contextlib.contextmanager
def nodes_of(kind, mpiexec, count=2):
    """Where jobs are to run. cluster.Unavailable: this machine cannot."""
    if kind != 'namespaces':
        yield Cliques(mpiexec, count) if kind == 'cliques' else Node(mpiexec)
        return
    with cluster.Nodes(count) as nodes:
        yield Namespaces(mpiexec, nodes)


def main():
    p = argparse.ArgumentParser(description='Random kills, for as long as is asked for.')
    p.add_argument('--build', default='build/release', help='where they were built')
    p.add_argument('--seconds', type=float, default=180)
    p.add_argument('--seed', type=int, default=random.randrange(2**31),
                   help='of the first run; the next one has the next')
    p.add_argument('--kinds', default=','.join(OFTEN), help='what is run')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    p.add_argument('--nodes', choices=['node', 'cliques', 'namespaces'], default='node')
    a = p.parse_args()
    prepare(a.mpiexec.split(), a.build)
    with nodes_of(a.nodes, a.mpiexec.split()) as where:
        soak(a, where)


def soak(a, where):
    end, seed, kills, ends, times = time.monotonic() + a.seconds, a.seed, 0, [], []
    while time.monotonic() < end:
        how, killed, ms = storm(where, a.build, seed, kinds=a.kinds.split(','))
        if how not in ENDS:
            sys.exit('seed %d: %s' % (seed, how))
        kills += killed
        ends.append(how)
        times += [ms] if ms else []
        seed += 1
    print('seeds %d to %d: %d runs, %d ranks killed; %d runs went on, %d ended with an error because '
          'a rank died before rg_init had returned everywhere, %d because nobody was left who had '
          'the data' % (a.seed, seed - 1, len(ends), kills, *map(ends.count, ENDS)))
    if times:
        times.sort()
        print('longest recovery of a run: median %.1f ms, 9 in 10 within %.1f ms, worst %.1f ms' %
              (times[len(times) // 2], times[len(times) * 9 // 10], times[-1]))


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The Slurm of the tests' own (slurm.py): ranks are on the nodes where they belong, nodes share
neither processes nor memory, what is lost is noticed, and nothing is left, however it ends.

time: 60
beside: yes
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

import cluster
import faults
import slurm

sys.path.insert(0, os.path.join(cluster.HERE, '..'))
import run_tests  # noqa: E402

SHAPES = [(6, 2, 'block'), (7, 3, 'block'), (5, 2, 'cyclic'), (1, 1, 'block')]  # srun's arguments
SLURMD = 6818  # its port
# Has a job, and waits.
# A process that was started in the background of a shell may have been told to ignore SIGINT.
HOLD = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, %r)
import slurm
with slurm.Slurm(2) as two:
    job = two.start(['salloc', '-N2', 'sh', '-c', 'srun sleep 600 & wait'])
    while 'RUNNING' not in two.ask('squeue', '--steps', '-h', '-o', '%%i RUNNING'):
        time.sleep(0.05)
    print('holds', flush=True)
    time.sleep(600)
"""


def test_places(three):
    say = ['sh', '-c', 'echo $PMI_RANK $(hostname)']
    for np, per_node, placement in SHAPES:
        count = -(-np // per_node)
        status, text = three.run(three.srun(np, per_node, placement) + say, 30)
        where = [rank // per_node if placement == 'block' else rank % count for rank in range(np)]
        expected = ['%d node%d' % pair for pair in enumerate(where)]
        assert status == 0 and sorted(text.splitlines()) == expected, (np, per_node, text)


def test_separate(three):
    """What a rank leaves in shared memory no other node sees; no node sees another's processes."""
    words = ['sh', '-c', 'echo >/dev/shm/$(hostname); sleep 1; echo $(ls /dev/shm)']
    status, text = three.run(three.srun(3, 1) + words, 30)
    assert status == 0 and sorted(text.splitlines()) == ['node0', 'node1', 'node2'], (status, text)
    assert not [name for name in os.listdir('/dev/shm') if name.startswith('node')]
    for node in range(3):
        names = [faults.name_of(pid) for pid in three.processes([node])]
        assert names.count('slurmd') == 1 and 'slurmctld' not in names, names


def test_status(three):
    """That of the program; a program that does not end is ended, and its nodes are free again."""
    assert three.run(three.srun(2, 1) + ['sh', '-c', 'exit 3'])[0] == 3
    assert three.run(three.srun(3, 1) + ['sleep', '600'], 2)[0] is None
    assert three.run(three.srun(3, 1) + ['true'])[0] == 0


def start(three, words, **how):
    """A job on all nodes, which has begun."""
    words = three.srun(3, 1) + ['sh', '-c', 'echo begun $(hostname); ' + words]
    job = three.start(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    begun, text = 0, ''
    while begun < 3:  # srun may say that it waits for the nodes
        line = job.stdout.readline()
        assert line, text
        text, begun = text + line, begun + line.startswith('begun')
    return job


def start_held(three):
    """A job on all nodes whose tasks end when the function that comes with it is called."""
    folder = tempfile.mkdtemp()
    job = start(three, 'while [ -e %s ]; do sleep .1; done; echo end $(hostname)' % folder)
    return job, lambda: os.rmdir(folder)


def state(three, node):
    return three.ask('sinfo', '-h', '-n', 'node%d' % node, '-o', '%T').strip()


def test_signals(three):
    """They reach the command itself."""
    job = start(three, 'trap "echo told; exit 0" USR1; while :; do sleep .1; done')
    job.send_signal(signal.SIGUSR1)
    text = job.communicate()[0]
    assert job.returncode == 0 and text.count('told\n') == 3, text


def test_faults(three):
    """The others' ranks go on. Where the node lives, its slurmd does too."""
    job, go_on = start_held(three)
    assert len(three.steps(1)) == 1 and three.kill_steps(1) >= 2  # and sleep, if it has begun
    assert 'slurmd' in [faults.name_of(pid) for pid in three.processes([1])]
    go_on()
    while three.steps(0) or three.steps(2):  # those go on to their ends
        time.sleep(0.1)
    three.take_down(1)
    text = job.communicate()[0]
    assert job.returncode in slurm.NODE_FAILED and 'end node0\n' in text and 'end node1\n' not in text, text


def reaches(three, node, other):
    words = ['timeout', '1', 'bash', '-c', ': </dev/tcp/%s/%d' % (cluster.ADDRESS % (other + 1), SLURMD)]
    return subprocess.run([*three.inside(three.nodes[node]), *words], stderr=subprocess.DEVNULL).returncode == 0


def await_reach(three, *pairs):
    while not all(reaches(three, *pair) for pair in pairs):
        pass


def test_cuts(three):
    await_reach(three, (0, 1), (2, 1))
    three.faults.cut(faults.path(0, 1))
    assert not reaches(three, 0, 1) and not reaches(three, 1, 0)
    await_reach(three, (2, 1))
    three.faults.heal()
    await_reach(three, (0, 1), (1, 0))


def test_lost(three):
    """Slurm notices by itself."""
    job, go_on = start_held(three)
    three.lose(2)
    go_on()
    text = job.communicate()[0]
    assert job.returncode in slurm.NODE_FAILED, text
    assert sorted(t for t in text.splitlines() if t.startswith('end')) == \
        ['end node0', 'end node1'], text
    assert state(three, 2).startswith('down'), state(three, 2)
    assert not three.processes([2])


def lines_of_mounts():
    with open('/proc/self/mounts') as f:
        return f.read()


def test_interrupted(how):
    """However its process ends, nothing is left of it."""
    mark, mounts = 'REGROUP_TEST=%d-%d' % (os.getpid(), how), lines_of_mounts()
    with tempfile.TemporaryDirectory(prefix='slurm-') as folder:
        env = dict(os.environ, TMPDIR=folder, PYTHONDONTWRITEBYTECODE='1', **dict([mark.split('=')]))
        holder = subprocess.Popen([sys.executable, '-c', HOLD % cluster.HERE], env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert holder.stdout.readline() == 'holds\n'
        assert len(run_tests.marked_processes(mark)) > 10
        holder.send_signal(how)
        assert holder.wait(run_tests.limit(20)) != 0
        deadline = time.monotonic() + run_tests.limit(10)
        while run_tests.marked_processes(mark) and time.monotonic() < deadline:
            time.sleep(.05)
        left = run_tests.marked_processes(mark), os.listdir(folder), lines_of_mounts() == mounts
        assert left == ([], [], True), (how, left)


def main():
    try:
        with slurm.Slurm(3, SlurmdTimeout=5) as three:
            more = [test_signals, test_faults, test_cuts, test_lost] if run_tests.FULL else []
            for test in [test_places, test_separate, test_status, *more]:
                test(three)
    except cluster.Unavailable as why:
        print(why)
        return 77
    for how in [signal.SIGKILL, signal.SIGINT, signal.SIGTERM][:3 if run_tests.FULL else 1]:
        test_interrupted(how)
    return 0


if __name__ == '__main__':
    sys.exit(main())

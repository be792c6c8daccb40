#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-run in an allocation of Slurm's: it ends with the survivors' status although Slurm does not
know that a node is lost; a death before rg_init has returned ends the job; a lost job starts again on
the nodes that are left; a status of the program's own is the job's, and 99 puts it back into the
queue. Processes on a spare node replace those of a lost one, also between two runs of a balancer. See
saver.c, early.c, after.c, relief.c, standby.c.

time: 180
beside: yes
"""
import os
import re
import signal
import tempfile
import time

import deaths
import jobs
import slurm

RUN, SAVER = jobs.path('bin/regroup-run'), jobs.path('tests/saver')
NEVER = 3600  # seconds: until Slurm takes a silent node for down
QUICK = dict(os.environ, RG_NODE_TIMEOUT='2', RG_PATIENCE='2')


class Job(jobs.Watched):
    """regroup-run in an allocation of all nodes, two ranks on each."""

    def __init__(self, three, *words, env=QUICK):
        n = len(three.nodes)
        super().__init__(three.start(['salloc', '-Q', '-N%d' % n, '-n%d' % (2 * n), '--ntasks-per-node=2',
                                      '--no-kill', RUN, *words], env, **deaths.READ), 90)


def saved(text):
    found = re.search(r'^SAVED \d+ (\w+) (\d+) (\d+)$', text, re.M)
    assert found, text
    return found.groups()


def kill_ranks(three, nodes):
    for node in nodes:
        three.faults.send(signal.SIGKILL, three.faults.named(node, 'saver'))


def test_status(three):
    """A program's own status is the job's; Slurm's starts count."""
    for program, status in ('exit $((PMI_RANK == 1 ? 7 : 0))', 7), ('exit 99', 99), ('true', 0):
        assert Job(three, 'sh', '-c', program).end()[0] == status, program
    env = dict(os.environ, SLURM_RESTART_COUNT='2')
    job = three.start(['salloc', '-Q', '-N1', '-n1', 'sh', '-c',
                       'SLURM_RESTART_COUNT=2 exec %s sh -c "echo started \\$RG_RESTARTS times"' % RUN],
                      env, **deaths.READ)
    assert jobs.end_of(job) == (0, 'started 2 times\n')


def test_end_time(three):
    """The library knows when the job's time ends."""
    words = 'salloc', '-Q', '-N1', '-n1', '-t', '30', RUN, 'sh', '-c', 'echo $RG_END_TIME'
    status, text = jobs.end_of(three.start(words, os.environ, **deaths.READ))
    assert status == 0 and 1500 < int(text) - time.time() <= 1800, (status, text)


def test_early(three):
    """One clear line of each node that lost a process: UCX may abort another one that connects to the
    dead rank."""
    for moment in 'before', 'between':
        status, text = Job(three, jobs.path('tests/early'), '4', moment).end()
        assert deaths.is_early(status, text, len(three.nodes)), (moment, status, text)


    for rank, moment, end, lines in ('4', 'before', '3', 1), ('4', 'inside', '0', 1), ('all', 'last', '2', 0):
        status, text = Job(three, jobs.path('tests/early'), rank, moment, end).end()
        said = text.count('regroup: rank 4 has ended with status %s before rg_' % end)
        assert status and said == lines, (moment, end, status, text)


def test_unstarted(three, folder):
    """The program cannot be executed on one node, or ends there at once: the others do not wait for it."""
    programs = os.path.join(folder, 'programs')
    with open(programs, 'w') as f:
        f.write('0-3 %s 9 never\n4-5 /nonexistent\n' % jobs.path('tests/early'))
    status, text = Job(three, '--multi-prog', programs).end()
    assert status and 'execve' in text, (status, text)
    status, text = Job(three, jobs.path('tests/early'), '4,5', 'before', '0').end()
    assert status and re.search(r'^regroup-run: all ranks of the node of rank [45] have ended with status 0 '
                                r'before MPI_Init: the job ends$', text, re.M), (status, text)
    assert Job(three, jobs.path('tests/early'), 'all', 'before', '0').end() == (0, '')


def test_environment(three):
    """RG_SURVIVE reaches the tasks whatever a batch script's --export says."""
    words = 'sh', '-c', 'exit $((RG_SURVIVE == 1 ? 5 : 6))'
    assert Job(three, *words, env=dict(QUICK, SLURM_EXPORT_ENV='NONE')).end()[0] == 5
    status, text = Job(three, '--export=NONE', *words).end()
    assert status == 2 and 'begin it with ALL' in text, (status, text)


def test_alone(three):
    """Without PMI each task is a job of its own."""
    status, text = Job(three, '--mpi=none', jobs.path('tests/early'), '9', 'never').end()
    assert status == 0 and text.count('srun has started 6 tasks, but MPI knows of one process') == 1, (
        status, text)


def test_requeue(three, folder):
    output = os.path.join(folder, 'requeue.out')
    script = os.path.join(folder, 'script')
    with open(script, 'w') as f:
        f.write('#!/bin/sh\n%s --requeue sh -c "exit 99"\n' % RUN)
    number = three.ask('sbatch', '--parsable', '--requeue', '-n1', '-o', output, script).strip()
    deadline = time.monotonic() + jobs.run_tests.limit(30)
    while 'Restarts=1' not in (shown := three.scontrol('show', 'job', number)):
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)
    three.ask('scancel', number)


def test_spare(three):
    """Two ranks of a node die; two on the spare node take their places."""
    expected = re.match(r'RELIEF 24 \w+ ', jobs.run(2, 'tests/relief', 1, 24, 1)[1])[0]
    status, text = Job(three, jobs.path('tests/relief'), '1', '24', '2', '2:6,3:6').end()
    assert status == 0 and expected + '4 of 4\n' in text, (status, text)
    status, text = Job(three, jobs.path('tests/standby'), '3', '2', '2:0,3:0').end()
    assert status == 0 and 'STANDBY 3 18018 4 of 4\n' in text, (status, text)


def test_restart(three, folder, expected):
    """The whole job is lost after a node was; it starts on the other two, although all three were named.
    Their last start ends well without the third, although Slurm waits for it."""
    job = Job(three, '--restart', '-w', 'node[0-2]', SAVER, os.path.join(folder, 'restart'), '10', 'sleep:4')
    job.wait_for('AT STEP 4\n')
    three.lose(2)
    job.wait_for('regroup: node node2 is lost (ranks 4-5)\n')
    kill_ranks(three, (0, 1))
    status, text = job.end()
    assert status == 0 and saved(text) == (expected, '6', '1'), (status, text)


def test_lost(two, folder, expected, silently=False):
    """The survivors' status, as soon as they have ended. All wait for a silent node as long as is
    patience."""
    job = Job(two, SAVER, os.path.join(folder, 'lost%d' % silently), '10', 'pause:4')
    job.wait_for('AT STEP 4\n')
    two.lose(1, silently)
    status, text = job.end()
    assert status == 0 and saved(text) == (expected, '2', '0'), (status, text)
    assert 'regroup: node node1 is lost (ranks 2-3)\n' in text, text


def test_silent(two, folder, expected):
    test_lost(two, folder, expected, silently=True)


def test_working_on(two):
    """A node whose rank works on after rg_finalize is not taken for lost."""
    status, text = Job(two, jobs.path('tests/after'), '6').end()
    assert status == 7 and 'ALL HAVE LEFT\n' in text and 'all have left' not in text, (status, text)


def lose_afterwards(two, lose):
    """No daemon tells of a node that is lost when all ranks have left."""
    job = Job(two, jobs.path('tests/after'), '3600')
    job.wait_for('ALL HAVE LEFT\n')
    lose(1)
    status, text = job.end()
    assert status == 0 and 'all have left' not in text, (status, text)


def test_lost_afterwards(two, folder, expected):
    test_working_on(two)
    lose_afterwards(two, lambda node: two.lose(node, silently=True))


def test_taken_afterwards(two, folder, expected):
    lose_afterwards(two, two.take_down)


def test_no_majority(two, folder, expected):
    """The first node is silent: the second one is no majority, and the job starts there again."""
    job = Job(two, '--restart', SAVER, os.path.join(folder, 'half'), '10', 'pause:4')
    job.wait_for('AT STEP 4\n')
    two.lose(0, silently=True)
    status, text = job.end()
    assert status == 0 and saved(text) == (expected, '4', '1'), (status, text)


try:
    with tempfile.TemporaryDirectory() as here:
        checksum = saved(jobs.run(1, 'tests/saver', os.path.join(here, 'reference'), 10)[1])[0]
        with slurm.Slurm(3, SlurmdTimeout=NEVER) as nodes:
            test_status(nodes)
            test_early(nodes)
            if jobs.FULL:
                test_end_time(nodes)
                test_unstarted(nodes, here)
                test_environment(nodes)
                test_alone(nodes)
            test_requeue(nodes, here)
            test_spare(nodes)
            test_restart(nodes, here, checksum)  # the third node is lost
        more = [test_silent, test_lost_afterwards, test_taken_afterwards, test_no_majority]
        for test in [test_lost, *(more if jobs.FULL else [])]:
            with slurm.Slurm(2, SlurmdTimeout=NEVER) as nodes:
                test(nodes, here, checksum)
except deaths.cluster.Unavailable as why:
    print('without Slurm: %s' % why)
    raise SystemExit(77)

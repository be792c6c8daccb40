#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The batch scripts of examples/slurm, on a Slurm of the tests' own: each does what it says, also when
a node is lost, is taken from the job, is to be switched off, or comes in addition. See
docs/clusters.md.

time: 120
beside: yes
"""
import functools
import os
import re
import sys
import tempfile
import time

import jobs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cluster'))
import cluster  # noqa: E402
import slurm  # noqa: E402

SCRIPTS = os.path.abspath('examples/slurm')
NODES, EACH = 4, 4
LIMIT = 120  # seconds, on a busy machine
# As the user has it. Jobs that are requeued begin again soon.
os.environ.update(PATH=os.path.abspath(jobs.path('bin')) + ':' + os.environ['PATH'],
                  RG_NODE_TIMEOUT='10', RG_OVERSUBSCRIBED='yes')
SETTINGS = {'AuthInfo': 'cred_expire=5'}


class Batch:
    """A job of a batch script."""

    def __init__(self, four, folder, name, *args):
        self.four, self.folder, self.name = four, folder, name
        script = os.path.join(SCRIPTS, name + '.sh')
        self.id = four.ask('sbatch', '--parsable', '--chdir=' + folder, script, *args).strip()

    def text(self):
        """What it has printed."""
        try:
            with open('%s/%s-%s.out' % (self.folder, self.name, self.id)) as f:
                return f.read()
        except FileNotFoundError:
            return ''

    def state(self):
        return re.search(r'JobState=(\w+)', self.four.scontrol('show', 'job', self.id))[1]

    def wait(self, is_so):
        deadline = time.monotonic() + jobs.run_tests.limit(LIMIT)
        while not is_so():
            assert time.monotonic() < deadline, (self.name, self.state(), self.text())
            time.sleep(0.1)

    def wait_line(self, pattern):
        self.wait(lambda: re.search(pattern, self.text(), re.M))

    def end(self):
        """Its output, when it has ended well."""
        self.wait(lambda: self.state() not in ('PENDING', 'RUNNING', 'COMPLETING'))
        assert self.state() == 'COMPLETED', (self.name, self.state(), self.text())
        return self.text()

    def tool(self, name, *args):
        """Another script, for this job."""
        self.four.ask(os.path.join(SCRIPTS, name + '.sh'), self.id, *args)


def checksum(text):
    return re.search(r'^checksum .*$', text, re.M)[0]


@functools.lru_cache
def expected(steps):
    status, text = jobs.run(1, 'bin/example-spare', steps)
    assert status == 0, text
    return checksum(text)


def test_plain(four, folder):
    """These have nothing to survive."""
    plain, two = Batch(four, folder, 'plain'), Batch(four, folder, 'heterogeneous')
    parts = [Batch(four, folder, 'tasks', folder + '/parts', '5') for _ in range(2)]
    assert 'greatest error' in plain.end()
    text = two.end()
    assert ', 10 processes\n' in text and checksum(text) == expected(200), text
    for job in parts:
        job.end()
    for part in range(1, 6):
        with open('%s/parts/%d/result' % (folder, part)) as f:
            assert checksum(f.read()) == expected(part)
        assert os.path.exists('%s/parts/%d/done' % (folder, part))


def test_salloc(four):
    status, text = four.run([SCRIPTS + '/salloc.sh'], LIMIT)
    assert status == 0 and checksum(text) == expected(200), (status, text)


def test_leave(four, folder):
    """Of a node that is to be switched off nothing is lost."""
    job = Batch(four, folder, 'checkpoint', '200')
    job.wait_line('^step 20 ')
    job.tool('leave', 'node1', '%s/plate-%s' % (folder, job.id))
    text = job.end()
    assert 'processes have left after step' in text and 'were lost' not in text, text
    assert checksum(text) == expected(200) and 'of 200, 8 processes' in text, text
    four.scontrol('update', 'nodename=node1', 'state=resume')


def test_taken(four, folder):
    """A node that is taken from the job without a word."""
    job = Batch(four, folder, 'survive')
    job.wait_line('^step 20 ')
    nodes = four.ask('squeue', '-h', '-j', job.id, '-o', '%N').strip()
    left = four.ask('scontrol', 'show', 'hostnames', nodes).split()[::2]
    four.scontrol('update', 'jobid=' + job.id, 'NodeList=' + ','.join(left))
    text = job.end()
    assert 'were lost after step' in text and checksum(text) == expected(200), text


def test_grow(four, folder):
    """On more nodes it continues from the checkpoint."""
    job = Batch(four, folder, 'checkpoint', '200')
    job.wait_line('^step 40 ')
    job.tool('grow', str(NODES))
    text = job.end()
    begun = re.findall(r'^begin with step (\d+) of 200, (\d+) processes', text, re.M)
    assert len(begun) == 2 and begun[0] == ('0', '12') and begun[1][1] == '16', text
    assert int(begun[1][0]) >= 40 and checksum(text) == expected(200), text


def test_spare(four, folder):
    """Processes in reserve on the last node take the ranks of those of a lost one."""
    job = Batch(four, folder, 'spare')
    job.wait_line('^step 20 ')
    four.lose(1)
    text = job.end()
    assert re.search(r'were lost after step \d+ of 200, 12 processes', text), text
    assert checksum(text) == expected(200), text


def test_all(four):
    with tempfile.TemporaryDirectory(prefix='examples-') as folder:
        test_plain(four, folder)
        test_salloc(four)
        test_leave(four, folder)
        for test in [test_taken, test_grow, test_spare] if jobs.FULL else []:
            test(four, folder)


try:
    with slurm.Slurm(NODES, **SETTINGS) as made:
        test_all(made)
except cluster.Unavailable as reason:
    print(reason)
    sys.exit(77)

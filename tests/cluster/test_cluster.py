#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The test programs again, on 2 and 4 pretended nodes of this machine: see docs/pretended-nodes.md.

A comment line "nodes: 2 4" near the top of a test program asks for it. What such a program
asks of MPICH about pretended nodes does not count here: these are real to it.

time: 900
beside: yes
"""
import argparse
import contextlib
import glob
import os
import re
import signal
import subprocess
import sys
import time

import cluster

sys.path.insert(0, os.path.join(cluster.HERE, '..'))
import run_tests  # noqa: E402

RUN = [sys.executable, cluster.HERE + '/run_on_nodes.py']
# By the number of nodes: ranks, most ranks on a node, placement.
SHAPES = {2: [(4, 2, 'block'), (7, 4, 'cyclic')], 4: [(4, 1, 'block'), (8, 2, 'cyclic')]}
SAMPLE = {2: [(4, 2, 'cyclic')], 4: []}
# The outer runner's mark: it finds what this script starts.
run_tests.MARK = 'RGT_RUN=' + os.environ.get('RGT_RUN', run_tests.MARK.split('=')[1])


def wanted(names):
    """The tests and their numbers of nodes."""
    for path in sorted(glob.glob('tests/**/test_*.c', recursive=True)):
        test = run_tests.Test(path)
        with open(path) as f:
            asked = re.search(r'^[ /*#]*\bnodes: *([\d ]+)$', f.read(4000), re.M)
        if asked and (not names or test.name in names):
            test.env.pop('MPIR_CVAR_NUM_CLIQUES', None)
            yield test, [int(n) for n in asked[1].split()]


def make_nodes(count, kind=cluster.Nodes):
    """Without the runner's mark: after each run it ends all that has that."""
    mark = os.environ.pop('RGT_RUN', None)
    try:
        return kind(count)
    finally:
        if mark:
            os.environ['RGT_RUN'] = mark


def run_one(test, nodes, ranks, most, placement):
    command = nodes.mpiexec(ranks, most, placement)
    test.env.update(nodes.environment(), UCX_NET_DEVICES='lo')
    return run_tests.run_program(test, ranks, options(command[:command.index('-n')]))


def options(mpiexec):
    return argparse.Namespace(mpiexec=mpiexec, build=os.environ.get('RGT_BUILD', 'build'),
                              seed=os.environ.get('RGT_SEED', '1'))


def run_suites(names, nodes):
    """Returns how many runs failed."""
    bad, runs, shapes = 0, 0, SHAPES if run_tests.FULL else SAMPLE
    for test, numbers in wanted(names):
        for count, (ranks, most, placement) in [(n, s) for n in numbers for s in shapes[n]]:
            start = time.monotonic()
            done = run_one(test, nodes[count], ranks, most, placement)
            print('%-4s %-26s %d ranks on %d nodes, %-6s %3d passed %2d failed %5.1f s' %
                  ('FAIL' if done.failed else 'ok', test.name, ranks, count, placement, done.passed,
                   done.failed, time.monotonic() - start), flush=True)
            for note in done.notes:
                print('     ' + note)
            runs += 1
            bad += done.failed > 0
    print('%d runs, %d of them failed' % (runs, bad))
    return bad + (runs == 0)


def check_interrupted(how, status):
    """However a run ends, nothing is left of it."""
    mark = 'REGROUP_TEST=%d-%d' % (os.getpid(), how)
    runner = subprocess.Popen(RUN + ['2:2', '--', 'sleep', '600'], start_new_session=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, **dict([mark.split('=')])))
    deadline = time.monotonic() + run_tests.limit(20)
    # The runner, two holders, mpiexec, two proxies and four ranks.
    while len(run_tests.marked_processes(mark)) < 10 and time.monotonic() < deadline:
        time.sleep(.05)
    assert len(run_tests.marked_processes(mark)) >= 10, run_tests.marked_processes(mark)
    runner.send_signal(how)
    assert runner.wait(run_tests.limit(20)) == status, runner.returncode
    deadline = time.monotonic() + run_tests.limit(10)
    while run_tests.marked_processes(mark) and time.monotonic() < deadline:
        time.sleep(.05)
    left = run_tests.marked_processes(mark)
    assert not left, (how, left)


def check_exit_status():
    done = subprocess.run(RUN + ['2:1', '--', 'sh', '-c', 'hostname; exit 3'], text=True,
                          capture_output=True, timeout=run_tests.limit(20))
    assert done.returncode == 3 and set(done.stdout.split()) == {'node0', 'node1'}, done
    done = subprocess.run(RUN + ['2:2', '--placement', 'cyclic', '--', 'sh', '-c',
                                 'echo $PMI_RANK $(hostname)'], text=True, capture_output=True,
                          timeout=run_tests.limit(20))
    assert sorted(done.stdout.splitlines()) == ['%d node%d' % (r, r % 2) for r in range(4)], done
    done = subprocess.run(RUN + ['2:1', '-n', '3', '--', 'true'], text=True, capture_output=True)
    assert done.returncode == 2 and '-n 3' in done.stderr, done


def main():
    for sig in [signal.SIGINT, signal.SIGTERM]:  # a job in the background may ignore the first
        signal.signal(sig, signal.default_int_handler)
    if 'openmpi' in os.environ.get('RGT_MPIEXEC', ''):
        print('only for MPICH')
        return 77
    try:
        cluster.Nodes(2).close()
    except cluster.Unavailable as why:
        print(why)
        return 77
    check_exit_status()
    for how, status in [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]:
        check_interrupted(how, status)
    with contextlib.ExitStack() as stack:
        nodes = {n: stack.enter_context(make_nodes(n)) for n in SHAPES}
        return 1 if run_suites(sys.argv[1:], nodes) else 0


if __name__ == '__main__':
    sys.exit(main())

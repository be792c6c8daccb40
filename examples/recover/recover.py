#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""recover.py BIN [OPTION...]: runs two programs on 16 ranks, each once undisturbed and once with
three ranks killed, among them the leader of a group that merges: example-recover, whose arrays are
recovered, and the MCMC kernel, whose walkers go on. Both runs of a program must have the same
checksum. Options replace --kill in example-recover's second run.

recover.py BIN --slurm: the kernel on three nodes of a Slurm of its own on this machine, once
undisturbed, and once with a node that is lost with all its processes."""
import os
import re
import subprocess
import sys
import threading
import time

RANKS, SIZE, LIMIT = 16, ['--points', '200', '--phases', '40'], 300
KILLS = ['--kill', '3:0.3,8:merge,5:0.9']  # rank 8 leads the upper half
KILL_WALKERS = ['--kill', '8:merge,3:0.6,13:1.2']


def run(command, start=subprocess.Popen):
    """Runs the command and shows its output line by line; returns the output and the status."""
    lines = []
    with start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as p:
        for line in p.stdout:
            print('  ' + line, end='', flush=True)
            lines.append(line)
    return ''.join(lines), p.returncode


def walkers_of(text):
    return re.findall(r'^  (?:checksum|visits) +([0-9a-f]{16})', text, re.M)


def checksum(text):
    found = re.search('^checksum ([0-9a-f]{16})', text, re.M)
    return found and found[1]


def walkers(launcher):
    """The MCMC kernel: the leader of walker 8's group dies when others join it."""
    picture = os.path.join(os.path.dirname(sys.argv[1]), 'recover.svg')
    program = [sys.argv[1] + '/regroup-mcmc', '--policy', 'share-out']
    print('walkers on %d ranks, undisturbed:' % RANKS)
    plain, status = run(launcher + program)
    if status or not walkers_of(plain):
        sys.exit('the undisturbed run failed')
    print('walkers on %d ranks, %s:' % (RANKS, ' '.join(KILL_WALKERS)))
    killed, status = run(launcher + program + KILL_WALKERS + ['--trace', picture])
    if status or walkers_of(killed) != walkers_of(plain):
        sys.exit('the run with deaths did not end with the same walkers')
    print('%d ranks died; the same checksums, and mpiexec ended with status 0' %
          len(re.findall(r' died; noticed', killed)))


def run_in_slurm(nodes, lose_after=None):
    """Four ranks on each node. One node is lost after so many seconds."""
    program = [os.path.abspath(sys.argv[1]) + name for name in ('/regroup-run', '/regroup-mcmc')]
    command = ['timeout', str(LIMIT), 'salloc', '-Q', '-N3', '-n12', '--ntasks-per-node=4', '--no-kill',
               *program, '--policy', 'share-out', '--time-scale', '4']
    timer = threading.Timer(lose_after or LIMIT, nodes.lose, [2])
    timer.start()
    began = time.monotonic()
    quick = dict(os.environ, RG_NODE_TIMEOUT='5')  # a node may be lost without a word
    text, status = run(command, lambda words, **how: nodes.start(words, quick, **how))
    timer.cancel()
    if status:
        sys.exit('the run failed with status %d' % status)
    return text, time.monotonic() - began


def slurm_main():
    """The machine must be one that may be lost, so this Slurm is always its own."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tests/cluster'))
    import cluster
    import slurm
    try:
        with slurm.Slurm(3, SlurmdTimeout=300) as nodes:
            print('12 ranks on 3 nodes of Slurm, undisturbed:')
            plain, seconds = run_in_slurm(nodes)
            print('12 ranks on 3 nodes of Slurm, one node is lost:')
            survived, _ = run_in_slurm(nodes, seconds - 2)  # of 4 s of work
    except cluster.Unavailable as why:
        sys.exit('no Slurm of its own can be started here: %s' % why)
    if 'is lost (ranks 8-11)' not in survived or walkers_of(survived) != walkers_of(plain):
        sys.exit('the run with a lost node did not end with the same walkers')
    print('node2 was lost; the same checksums, and regroup-run ended with status 0, while Slurm '
          'still took the node for living')


def main():
    if sys.argv[2:] == ['--slurm']:
        slurm_main()
        return
    launcher = ['timeout', str(LIMIT), sys.argv[1] + '/regroup-run', '-n', str(RANKS)]
    program = [sys.argv[1] + '/example-recover', *SIZE]
    print('%d ranks, undisturbed:' % RANKS)
    plain, status = run(launcher + program)
    if status or not checksum(plain):
        sys.exit('the undisturbed run failed')
    kills = sys.argv[2:] or KILLS
    print('%d ranks, %s:' % (RANKS, ' '.join(kills)))
    killed, status = run(launcher + program + kills)
    deaths = len(re.findall(' died in phase ', killed))
    if status or checksum(killed) != checksum(plain):
        sys.exit('the run with deaths did not end with the same plate')
    print('%d ranks died; the same checksum, and mpiexec ended with status 0' % deaths)
    walkers(launcher)


if __name__ == '__main__':
    main()

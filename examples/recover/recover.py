#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""recover.py BIN [OPTION...]: runs two programs on 16 ranks, each once undisturbed and once with
three ranks killed, among them the leader of a group that merges: example-recover, whose arrays are
recovered, and the MCMC kernel, whose walkers go on. Both runs of a program must have the same
checksum. Options replace --kill in example-recover's second run."""
import os
import re
import subprocess
import sys

RANKS, SIZE, LIMIT = 16, ['--points', '200', '--phases', '40'], 300
KILLS = ['--kill', '3:0.3,8:merge,5:0.9']  # rank 8 leads the upper half
KILL_WALKERS = ['--kill', '8:merge,3:0.6,13:1.2']


def run(command):
    """Runs the command and shows its output line by line; returns the output and the status."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as p:
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


def main():
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

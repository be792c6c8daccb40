#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""recover.py BIN [OPTION...]: example-recover on 16 ranks, undisturbed and with three of them
killed, one of those the leader of a group that merges: both must have the same checksum. Options
are handed to the second run instead of --kill (example-recover tells which)."""
import re
import subprocess
import sys

RANKS, SIZE, LIMIT = 16, ['--points', '200', '--phases', '40'], 300
KILLS = ['--kill', '3:0.3,8:merge,5:0.9']  # rank 8 leads the upper half


def run(command):
    """Shows what comes, as it comes; returns it and the status."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as p:
        for line in p.stdout:
            print('  ' + line, end='', flush=True)
            lines.append(line)
    return ''.join(lines), p.returncode


def checksum(text):
    found = re.search('^checksum ([0-9a-f]{16})', text, re.M)
    return found and found[1]


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


if __name__ == '__main__':
    main()

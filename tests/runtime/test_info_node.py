#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-info --node and the log say where shared memory lies."""
import os
import re
import subprocess
import sys

BUILD = os.environ['RGT_BUILD']
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
HUGE = {'never': 'no huge pages', 'deny': 'no huge pages', 'advise': 'huge pages, asked for'}
failures = []


def check(good, text):
    if not good:
        failures.append(text)


def huge_pages():
    """What the system says, in the words of the line."""
    try:
        with open('/sys/kernel/mm/transparent_hugepage/shmem_enabled') as f:
            return HUGE.get(re.search(r'\[(\w+)\]', f.read()).group(1), 'huge pages')
    except OSError:
        return 'no huge pages'


def run(ranks, **more):
    r = subprocess.run([*MPIEXEC, '-n', str(ranks), BUILD + '/bin/regroup-info', '--node'],
                       text=True, capture_output=True,
                       env=dict(os.environ, RG_LOG='info', **more))
    check(r.returncode == 0, r.stderr)
    return r.stdout, r.stderr


def expect(ranks, memory, **more):
    out, log = run(ranks, **more)
    line = memory + '; ' + huge_pages()
    check(re.match(r'processes     %d\nprocessors    \d+( \(oversubscribed\))?\nbound         (?:yes|no: mpiexec .*)\nshared memory (.*)\n$'
                   % ranks, out), out)
    check(out.endswith('shared memory ' + line + '\n'), (line, out))
    check('shared memory: ' + line in log, (line, log))


def main():
    several = "each process's part on its own of %d memory nodes (pretended: nothing is bound)"
    one = 'where the system puts it: all processes have the same memory nodes'
    expect(4, several % 2, RG_TOPOLOGY='pack:2 [numa] core:2 pu:1', RG_BIND='compact')
    expect(7, several % 4, RG_TOPOLOGY='numa:4 core:2 pu:1', RG_BIND='scatter')
    expect(2, several % 1, RG_TOPOLOGY='numa:2 core:2 pu:1', RG_BIND='0;none')
    expect(2, one, RG_TOPOLOGY='numa:2 core:2 pu:1', RG_BIND='compact')
    expect(3, one, RG_TOPOLOGY='numa:2 core:2 pu:1', RG_BIND='none')
    for text in failures:
        print(text)
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())

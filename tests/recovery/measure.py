#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""How long a death costs: example-recover, one rank killed at a random moment in each run. Prints
the medians from the death to the first survivor's notice, and to the survivors' group with its
array.

    python3 tests/recovery/measure.py --build build/release --ranks 16 --runs 30
"""
import argparse
import os
import random
import re
import statistics
import subprocess
import sys


def main():
    p = argparse.ArgumentParser(description='How long a death costs.')
    p.add_argument('--build', default='build/release')
    p.add_argument('--ranks', type=int, default=16)
    p.add_argument('--runs', type=int, default=30)
    p.add_argument('--seed', type=int, default=1)
    a = p.parse_args()
    random.seed(a.seed)
    bin_, noticed, back = os.path.join(a.build, 'bin'), [], []
    for _ in range(a.runs):
        kill = '%d:%.3f' % (random.randrange(a.ranks), random.uniform(0.05, 0.4))
        text = subprocess.run(['timeout', '120', bin_ + '/regroup-run', '-n', str(a.ranks),
                               bin_ + '/example-recover', '--kill', kill],
                              stdout=subprocess.PIPE, text=True).stdout
        found = re.search(r'noticed by rank \d+ after ([\d.]+) ms, .* after ([\d.]+) ms', text)
        if found:  # else it ended before
            noticed.append(float(found[1]))
            back.append(float(found[2]))
    if not noticed:
        sys.exit('no rank died in time')
    for what, times in ('noticed', noticed), ('survivors\' group with its array', back):
        print('%-34s median %5.1f ms, worst %5.1f ms (%d deaths, %d ranks)' %
              (what, statistics.median(times), max(times), len(times), a.ranks))


if __name__ == '__main__':
    main()

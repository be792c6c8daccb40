#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs the tests with the build BUILD=coverage, and tells which lines of the library they reach: a table
by room, and pages in build/coverage/html. Words go to run_tests.py (none: the tier default). It fails where
a part of the library has less than LEAST percent; that tests have failed is said, but counts elsewhere.

What a process has counted is lost when another one kills it.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = 'build/coverage'
PARTS = ['pgroup', 'arrays', 'lb']
LEAST = 90


def forget_counts():
    for folder, _, names in os.walk(BUILD):
        for name in names:
            if name.endswith('.gcda'):
                os.remove(os.path.join(folder, name))


def report(path):
    """gcovr's pages, and what it says of each file, by JSON."""
    pages = BUILD + '/html'
    shutil.rmtree(pages, ignore_errors=True)
    os.makedirs(pages)
    subprocess.run(['gcovr', '--root', '.', '--object-directory', BUILD, *(word for part in PARTS for word in ('--filter', part + '/')),
                    '-j', str(os.cpu_count()), '--html-details', pages + '/index.html', '--json-summary', path, BUILD + '/obj'], check=True)
    with open(path) as f:
        return json.load(f)['files']


def print_rooms(files):
    """Returns the parts that have too little."""
    total, covered = collections.Counter(), collections.Counter()
    for file in files:
        room = os.path.dirname(file['filename'])
        for key in {room, room.split('/')[0]}:
            total[key] += file['line_total']
            covered[key] += file['line_covered']
    print('%-32s %6s %7s %5s' % ('', 'lines', 'without', '%'))
    for key in sorted(total):
        print('%-32s %6d %7d %5.1f' % (key, total[key], total[key] - covered[key], 100 * covered[key] / total[key]))
    return [part for part in PARTS if 100 * covered[part] < LEAST * total[part]]


def main():
    os.chdir(ROOT)
    forget_counts()
    subprocess.run(['tests/run_tests.py', '--build', BUILD, *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as folder:
        low = print_rooms(report(folder + '/summary.json'))
    print('pages: %s/html/index.html' % BUILD)
    if low:
        print('less than %d %%: %s' % (LEAST, ', '.join(low)))
    return 1 if low else 0


if __name__ == '__main__':
    sys.exit(main())

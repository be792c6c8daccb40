#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""docs/develop/architecture.md names files, folders and functions that exist, each function in the file
of its row, and every room of pgroup/rooms.txt.

tier: quick
beside: yes
"""
import os
import re
import sys

failures = []
with open('docs/develop/architecture.md') as f:
    text = f.read()


def defines(path, function):
    with open(path) as f:
        return re.search(r'^(?!extern|static inline.*;)[\w \*]*?[ \*]%s\(' % function, f.read(), re.M)


for path in re.findall(r'`((?:pgroup|arrays|lb|tests|include|docs|examples)/[\w./]+)`', text):
    if not os.path.exists(path):
        failures.append('%s does not exist' % path)
steps = re.findall(r'^\|[^|]*\| `([\w./]+)` \| `(\w+)` \|$', text, re.M)
for path, function in steps:
    if os.path.exists(path) and not defines(path, function):
        failures.append('%s does not define %s' % (path, function))
with open('pgroup/rooms.txt') as f:
    rooms = [line.split()[0] for line in f if line.strip() and not line.startswith('#')]
for room in rooms:
    if room.startswith('pgroup/') and '`%s`' % room not in text:
        failures.append('the room %s is not in the table' % room)
if len(steps) < 20:
    failures.append('only %d steps of walks were found' % len(steps))
print('\n'.join(failures + ['%d steps, %d failures' % (len(steps), len(failures))]))
sys.exit(1 if failures else 0)

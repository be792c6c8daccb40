#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""docs/from-global-arrays.md: every function of Global Arrays has its place, once, and every
function that is named there exists.

tier: quick
beside: yes
"""
import glob
import os
import re
import sys

PAGE = 'docs/from-global-arrays.md'
HEADER = '/usr/include/ga.h'

with open(PAGE) as f:
    page = f.read()
faults = []
rows = re.findall(r'^\|([^|]*)\|([^|]*)\|([^|]*)\|$', page, re.M)
theirs = [name for row in rows for name in re.findall(r'`(\w+)`', row[0])]
faults += ['%s has two rows' % name for name in set(theirs) if theirs.count(name) > 1]

ours = set(re.findall(r'\brg_\w+', page))
known = set()
for header in glob.glob('include/regroup/*.h'):
    with open(header) as f:
        known |= set(re.findall(r'\brg_\w+', f.read()))
faults += ['%s does not exist' % name for name in sorted(ours - known)]

if os.path.exists(HEADER):
    with open(HEADER) as f:
        calls = {re.sub(r'^N?GA_|64$', '', c)
                 for c in re.findall(r'\b(N?GA_\w+)\s*\(', f.read())}
    faults += ['%s is not on the page' % name for name in sorted(calls - set(theirs))]
    faults += ['%s is no call of Global Arrays' % name for name in sorted(set(theirs) - calls)]
if faults:
    sys.exit('%s:\n%s' % (PAGE, '\n'.join(faults)))
if not os.path.exists(HEADER):
    print('Global Arrays is not installed: its calls were not compared')

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Each function of the public headers is called by a program of tests/memory, where allocations fail,
or is left out here with a reason; so is each collective that the preloaded library serves, and each
call of MPI's fault-tolerance extension.

tier: quick
"""
import glob
import re
import sys

LEFT_OUT = {
    'rg_group_replace': 'without a death it is rg_group_shrink',
    'rg_ga_array': 'allocates nothing, as the next two',
    'rg_ga_keep_failures': 'see rg_ga_array',
    'rg_ga_failure': 'see rg_ga_array',
    'rg_ga_recover': 'rg_array_recover for each array, and rg_group_dup',
    'rg_reserve_acquisition': 'a copy of what rg_reserve_park has returned',
}


def read(pattern):
    return '\n'.join(open(f).read() for f in sorted(glob.glob(pattern)))


drivers = read('tests/memory/memory_*.c')
called = set(re.findall(r'\b(?:rg|MPIX?)_\w+', drivers))
for name in re.findall(r'\bOPERATION\(\w+, (\w+)', drivers):
    called |= {'rg_' + name, 'rg_i' + name}
headers = re.sub(r'/\*.*?\*/', '', read('include/regroup/*.h'), flags=re.S)
public = set(re.findall(r'RG_API[^;(]*?\b(rg_\w+)\(', headers))
served = set(re.findall(r'`(MPI_\w+)`', open('docs/preload.md').read().split('| word |')[1].split('\n\n')[0]))
extension = set(re.findall(r'\bint (MPIX_\w+)\(', headers)) | {
    'MPIX_Comm_' + name for name in ['revoke', 'agree', 'shrink', 'failure_ack', 'failure_get_acked']}

faults = ['%s: no program of tests/memory calls it' % name
          for name in sorted((public | served | extension) - called - set(LEFT_OUT))]
faults += ['%s: left out, and called or not public' % name
           for name in sorted(set(LEFT_OUT) & called | set(LEFT_OUT) - public)]
faults += ['no functions found'] * (len(public) < 250 or len(served) < 17 or len(extension) < 10)
print('\n'.join(faults))
sys.exit(bool(faults))

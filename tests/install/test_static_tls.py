#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A running program can open the libraries: the C library has some 1,600 bytes of static thread-local
memory for all libraries that are opened so, and these take 64 of them at most. libregroup-mpi.so and
libregroup-polite.so are there from the start, being preloaded, and have all that they want.

tier: quick
beside: yes
"""
import glob
import os
import re
import subprocess
import sys

BUILD = os.environ['RGT_BUILD']
MOST = 64
if re.search('san|coverage', os.path.basename(BUILD)):
    print('a sanitizer, or gcov, has thread-local memory of its own')
    sys.exit(77)


def readelf(option, library):
    return subprocess.run(['readelf', option, library], check=True, capture_output=True, text=True).stdout


libraries = set(glob.glob(BUILD + '/lib/*.so')) - {BUILD + '/lib/libregroup-%s.so' % name for name in ['mpi', 'polite']}
assert BUILD + '/lib/libregroup.so' in libraries, libraries
taken = {}
for library in libraries:
    if 'STATIC_TLS' in readelf('-dW', library):
        taken[library] = int(re.search(r'^ *TLS( +0x\w+){4} +(0x\w+)', readelf('-lW', library), re.M)[2], 16)
print(taken)
assert sum(taken.values()) <= MOST, taken

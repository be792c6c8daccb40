#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The shared libraries export what the headers promise, and nothing else."""
import glob
import os
import re
import subprocess

LIB = os.environ['RGT_BUILD'] + '/lib/'
INTERPOSED = {'ucp_worker_progress', 'ucp_disconnect_nb'}


def promised(headers):
    names = set()
    for header in headers:
        with open(header) as f:
            text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
        declared = set(re.findall(r'\b(rg_\w+)\(', text))
        found = set(re.findall(r'RG_API[^;(]*?\b(rg_\w+)\(', text))
        assert declared == found, '%s: without RG_API: %s' % (header, sorted(declared - found))
        names |= found
    return names


def exported(library):
    text = subprocess.run(['nm', '-D', '--defined-only', library], check=True, capture_output=True,
                          text=True).stdout
    return {line.split()[-1] for line in text.splitlines()}


def compare(library, headers):
    want, have = promised(headers) | INTERPOSED, exported(LIB + library)
    assert len(want) > len(INTERPOSED), headers
    assert want == have, '%s: not exported: %s; exported without a prototype: %s' % (
        library, sorted(want - have), sorted(have - want))


compare('libregroup.so', glob.glob('include/regroup/*.h'))
compare('libregroup-polite.so', ['include/regroup/polite.h'])
needed = subprocess.run(['readelf', '-d', LIB + 'libregroup-polite.so'], check=True,
                        capture_output=True, text=True).stdout
assert not re.search(r'NEEDED.*lib(mpi|mpich|ucp|ucs|uct)\b', needed), needed

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-info says of MPI's waits what every program of the same MPI finds: that they are polite, also
where it runs alone; or why not.

tier: quick
beside: yes
"""
import json
import os
import subprocess
import sys
import tempfile

MPIEXEC = os.environ['RGT_MPIEXEC'].split()
INFO = os.environ['RGT_BUILD'] + '/bin/regroup-info'


def said(start, **env):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + '/info.json'
        done = subprocess.run([*start, INFO, '--json', path], env=dict(os.environ, **env), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout
        with open(path) as f:
            polite = json.load(f)['polite']
    line, = [x for x in done.stdout.splitlines() if x.startswith("MPI's own waits are ")]
    return line[len("MPI's own waits are "):], polite


if 'openmpi' in MPIEXEC[0]:
    print("polite waiting is for MPICH's transport")
    sys.exit(77)
for start in [], [*MPIEXEC, '-n', '1'], [*MPIEXEC, '-n', '2']:
    assert said(start) == ('polite', True), (start, said(start))
    off = said(start, RG_POLITE='0')
    assert off == ('not polite: RG_POLITE=0', False), (start, off)

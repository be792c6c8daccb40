#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-posterior --kill: the draws are those of an undisturbed run, whichever rank is killed, and when.

time: 400
beside: yes
"""
import os
import random
import re
import subprocess
import sys

from posterior import BIN, MPIEXEC

if 'openmpi' in MPIEXEC[0]:
    print("guards use the protocol of MPICH's launcher")
    sys.exit(77)
ENV = dict(os.environ, RG_SURVIVE='1', UCX_TLS='tcp,self')
NODES = {'MPIR_CVAR_NUM_CLIQUES': '2'}  # which MPI pretends to have: it deals the ranks out in turn
POSTERIOR = ['--model', 'eight-schools', '--samples', 200, '--tune', 100, '--unit', 20, '--walkers', 5]


def run(np, *args, nodes={}):
    """What it prints, when all must be well."""
    done = subprocess.run([*MPIEXEC, '-n', str(np), BIN, *map(str, args)], env=dict(ENV, **nodes),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, (np, args, nodes, done)
    return done.stdout


def draws_of(text):
    """The checksums of the draws that it says: the rank that prints may die then."""
    return set(re.findall(r"draws' checksum ([0-9a-f]{16})", text))


def test_posterior(seed):
    """The draws are those of an undisturbed run, on one rank."""
    random.seed(seed)
    expected = draws_of(run(1, *POSTERIOR))
    for policy in 'none', 'share-out', 'release:gain=0.5', 'sync:i=2':
        for nodes, lost in ({}, '%d:%%.3f,3:merge' % random.randrange(3)), (NODES, '1:%.3f,3:%.3f'):
            kills = lost.replace('%.3f', '%.3f' % random.uniform(0, 0.15))
            text = run(4, *POSTERIOR, '--policy', policy, '--kill', kills, nodes=nodes)
            assert len(expected) == 1 and draws_of(text) == expected, (policy, nodes, kills, text)
    text = run(3, *POSTERIOR, '--kill', '0:0')
    assert '1 of 3 ranks died' in text and draws_of(text) == expected, text


seed = int(os.environ.get('RGT_SEED', random.randrange(2**31)))
print('seed', seed)
test_posterior(seed)

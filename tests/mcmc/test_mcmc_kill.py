#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-mcmc --kill: the walkers end as in a walk sample by sample, whichever rank is killed, when,
and under whatever policy; deaths are reported, counted and drawn.

time: 400
beside: yes
"""
import os
import random
import re
import subprocess
import sys
import tempfile

import mcmc

if 'openmpi' in mcmc.MPIEXEC[0]:
    print("guards use the protocol of MPICH's launcher")
    sys.exit(77)
WALKERS, SAMPLES, UNIT, SEED = 7, 200, 50, 77
EXPECTED = mcmc.checksums(SEED, [4 * w for w in range(WALKERS)], SAMPLES, UNIT)
LIST = ['--walkers', WALKERS, '--samples', SAMPLES, '--unit', UNIT, '--seed', SEED, '--group', 2]
POLICIES = ['none', 'join-right', 'most-work', 'share-out', 'release:gain=0.5', 'sync:i=2',
            'share-out:i=3']
ENV = dict(os.environ, RG_SURVIVE='1', UCX_TLS='tcp,self')
NODES = {'MPIR_CVAR_NUM_CLIQUES': '2'}  # which MPI pretends to have: it deals the ranks out in turn


def some(policies):
    return policies if os.environ.get('RGT_TIER', 'all') == 'all' else random.sample(policies, 2)


def run(np, *args, nodes={}):
    """What it prints, when all must be well."""
    done = subprocess.run([*mcmc.MPIEXEC, '-n', str(np), mcmc.BIN, *map(str, args)],
                          env=dict(ENV, **nodes), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, (np, args, nodes, done)
    return done.stdout


def check(np, policy, kills, *args, nodes={}):
    text = run(np, *LIST, '--policy', policy, '--kill', kills, *args, nodes=nodes)
    found = re.findall(r'^  (?:checksum|visits) +([0-9a-f]{16})', text, re.M)
    # The rank that prints may die then: another one prints it again.
    assert found[:2] == list(EXPECTED[:2]) and set(found) == set(EXPECTED[:2]), (np, policy, kills, found, EXPECTED, text)
    return text


def test_policies(seed):
    random.seed(seed)
    for policy in some(POLICIES):
        np = random.choice([2, 3, 4, 6, 8])
        ranks = random.sample(range(np), random.randint(1, min(3, np - 1)))
        check(np, policy, ','.join('%d:%.3f' % (r, random.uniform(0, 0.6)) for r in ranks))
        check(6, policy, '0:merge,%d:merge' % random.randrange(1, 6))


def test_nodes(seed):
    """One rank, and all of a node at once."""
    random.seed(seed)
    for policy in some(POLICIES):
        at = random.uniform(0, 0.4)
        lost = random.choice(['%d:%%.3f' % random.randrange(4), '0:%.3f,2:%.3f', '1:%.3f,3:%.3f'])
        check(4, policy, lost.replace('%.3f', '%.3f' % at), nodes=NODES)
    check(6, 'share-out', '0:merge,2:merge,3:0.1', nodes=NODES)


def test_told():
    """Deaths that are certain to come: they are printed, counted, and marked in the picture."""
    with tempfile.TemporaryDirectory() as folder:
        json, svg = os.path.join(folder, 'k.json'), os.path.join(folder, 'k.svg')
        text = check(4, 'share-out', '3:0.02,1:0.05', '--time-scale', 5, '--json', json, '--trace',
                     svg)
        assert re.findall(r' s  rank (\d) died; noticed after ', text) in (['3', '1'], ['1', '3']), text
        assert '2 of 4 ranks died' in text, text
        with open(svg) as f:
            assert set(re.findall('<title>rank (.) died at', f.read())) == {'1', '3'}
        with open(json) as f:
            assert '"deaths": 2' in f.read()
    run(6, *LIST, '--kill', 'seed:5')


def test_refused():
    for kills in 'x', '1', '1:', '1:x', '9:0.1', '1:-1', '1:0.1,', '1:0.1,1:0.2', 'seed:', '1:merged':
        done = subprocess.run([*mcmc.MPIEXEC, '-n', '2', mcmc.BIN, '--kill', kills], env=ENV,
                              capture_output=True, text=True)
        assert done.returncode == 2 and '--kill' in done.stderr, (kills, done)
    done = mcmc.start(2, '--kill', '1:0.1')
    assert done.returncode == 2 and 'regroup-run' in done.stderr, done


seed = int(os.environ.get('RGT_SEED', random.randrange(2**31)))
print('seed', seed)
test_policies(seed)
test_nodes(seed)
test_told()
test_refused()

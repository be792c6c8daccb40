#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Public calls while one process lacks memory for its n-th allocation, or from that one on, on one
node and on pretended ones: an error as the headers say, no hang, no block left, and the call
works when there is memory again. shortage.h says how; in the tier all for all processes and all n.
SHORTAGE_CALL=NAME in the environment tries one call, SHORTAGE_TELL=1 prints how far n went.

time: 240
beside: yes
"""
import os
import subprocess
import sys
import tempfile

BUILD, MPIEXEC = os.environ['RGT_BUILD'], os.environ['RGT_MPIEXEC'].split()
FULL = os.environ.get('RGT_TIER', 'all') == 'all'
# And on how many nodes: a failed balanced run ends at once on the node where it has failed.
PROGRAMS = {'memory_groups': 3, 'memory_collectives': 3, 'memory_messages': 3, 'memory_arrays': 1,
            'memory_balance': 1, 'memory_topology': 2, 'memory_recovery': 2, 'memory_reserve': 1,
            'memory_queries': 1, 'memory_mpi': 2, 'memory_fault': 1, 'memory_linalg': 1}
QUIET = {'RG_LOG': 'none', 'UCX_LOG_LEVEL': 'error'}
SURVIVES = {'RG_SURVIVE': '1', 'UCX_TLS': 'tcp,self'}
ENVIRONMENT = {'memory_topology': {'RG_TOPOLOGY': 'pack:2 core:2 pu:1', 'RG_BIND': 'compact'},
               'memory_recovery': SURVIVES, 'memory_fault': SURVIVES}


def test_program(program, ranks, nodes):
    env = dict(os.environ, SHORTAGE_FOLDER=folder, **QUIET, **ENVIRONMENT.get(program, {}))
    if nodes > 1:
        env['MPIR_CVAR_NUM_CLIQUES'] = str(nodes)
    run = subprocess.run([*MPIEXEC, '-n', str(ranks), '%s/tests/%s' % (BUILD, program)], env=env,
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode:
        print('%s with %d ranks on %d nodes:\n%s' % (program, ranks, nodes, run.stdout[-3000:]))
    return run.returncode == 0


CASES = [(ranks, nodes) for ranks in (2, 3, 4) for nodes in (1, 2)] + [(3, 3)] if FULL else [(3, 1), (4, 2)]
with tempfile.TemporaryDirectory() as folder:
    results = [test_program(program, ranks, nodes) for program, most in PROGRAMS.items()
               for ranks, nodes in CASES if nodes <= most and os.path.exists('%s/tests/%s' % (BUILD, program))]
sys.exit(not all(results))

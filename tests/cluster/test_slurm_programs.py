#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Test programs again under plain srun, in jobs that do not survive: on one node of Slurm, on two and on
four. By hand, others of those that test_cluster.py runs:

    RGT_BUILD=build/release tests/cluster/test_slurm_programs.py test_runtime test_topology

tier: all
time: 120
beside: yes
"""
import os
import sys

import cluster
import slurm
import test_cluster
from test_cluster import run_tests

NAMES = ['test_coll_comm', 'test_group', 'test_p2p', 'test_regroup']
# By the number of nodes: ranks, most ranks on a node, placement.
SHAPES = {1: (3, 3, 'block'), 2: (4, 2, 'block'), 4: (7, 2, 'cyclic')}


def run_one(made, test, count):
    """Whether it failed."""
    ranks, most, placement = SHAPES[count]
    command = made.mpiexec(ranks, most, placement, options=())
    test.env.update(made.environment(), RG_OVERSUBSCRIBED='yes')
    done = run_tests.run_program(test, ranks, test_cluster.options(command[:command.index('-n')]))
    print('%-4s %-22s %d ranks on %d nodes %3d passed %2d failed' % (
        'FAIL' if done.failed else 'ok', test.name, ranks, count, done.passed, done.failed), *done.notes,
        sep='\n     ', flush=True)
    return done.failed > 0


def test_one_process(made):
    """Without a launcher's help a process is a world of its own."""
    program = os.path.join(test_cluster.options([]).build, 'tests', 'survivors')
    status, text = made.run(['srun', '--mpi=none', '-n', '1', program, '', '10'], 60)
    assert status == 0 and 'RESULT 10 1 0 ' in text, (status, text)


def main():
    if 'openmpi' in os.environ.get('RGT_MPIEXEC', ''):
        print('only for MPICH')
        return 77
    try:
        made = test_cluster.make_nodes(4, slurm.Slurm)
    except cluster.Unavailable as why:
        print(why)
        return 77
    with made:
        test_one_process(made)
        tests = list(test_cluster.wanted(sys.argv[1:] or NAMES))
        bad = [run_one(made, test, count) for test, numbers in tests for count in [1] + numbers]
    return 1 if any(bad) or not bad else 0


if __name__ == '__main__':
    sys.exit(main())

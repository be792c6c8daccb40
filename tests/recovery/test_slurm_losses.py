#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Under Slurm a job survives the loss of a node in each way: its job step is killed, the machine is
lost, without its power too, its cable or a path is cut, the administrator takes it down. It survives
the loss of a rank, of a guard and of a daemon. The result is right, srun's status is as said, and
nothing is left behind. See slurm_worlds.py, worlds.c.

time: 120
"""
import copy
import sys

import deaths
import jobs
import slurm_worlds
from slurm_worlds import Fault
from worlds import FOR_GOOD

cluster = deaths.cluster
import slurm  # noqa: E402

LIMIT = 2
SECONDS = 2.5  # of a run
ALLOCATION = ['salloc', '--quiet', '--no-kill', '-N3', '--exclusive']
NODES = 3
# Each of these costs the nodes that follow, or as many.
FAULTS = [([Fault('kill rank', 1, nodes=[1])], set()), ([Fault('kill guard', 1, nodes=[1])], set()),
          ([Fault('kill daemon', 1, nodes=[1])], {1}), ([Fault('kill steps', 1, nodes=[0])], {0}),
          ([Fault('lose', 1, nodes=[1])], {1}), ([Fault('power off', 1, nodes=[2])], {2}),
          ([Fault('take down', 1, nodes=[2])], {2}),
          ([Fault('cut node', 1, FOR_GOOD, [1], hub=True)], {1}),
          ([Fault('cut path', 1, FOR_GOOD, [1, 2])], 1)]
TWO = [Fault('kill steps', 0.7, nodes=[3]), Fault('lose', 1.7, nodes=[0])]


def play_once(plan, count, command):
    """Returns the run and what was wrong."""
    with slurm.Slurm(count) as made:
        run = slurm_worlds.Run(made, jobs.path('tests/worlds'), 2, LIMIT, SECONDS, copy.deepcopy(plan))
        run.command = list(command)
        return run, run.play()


def play(plan, lost, count=NODES, command=()):
    run, wrong = play_once(plan, count, command)
    if slurm.RESET in run.text:  # srun itself has ended the step
        run, wrong = play_once(plan, count, command)
    assert not wrong, wrong
    assert lost in (run.lost(), len(run.lost())), (list(map(str, plan)), run.lost(), run.text)
    print('%s: status %d' % ('; '.join(map(str, plan)), run.status), flush=True)


def main():
    try:
        slurm.Slurm(1).close()
    except cluster.Unavailable as why:
        print(why)
        return 77
    for plan, lost in FAULTS if sys.argv[1:] != ['two'] else []:
        if not sys.argv[1:] or plan[0].kind in sys.argv[1:]:
            play(plan, lost)
    play(TWO, {0, 3}, 4)
    play([Fault('lose', 1, nodes=[0])], {0}, command=ALLOCATION)
    return 0


if __name__ == '__main__':
    sys.exit(main())

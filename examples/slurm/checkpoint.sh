#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# A job longer than its time limit. A minute before the limit Slurm sends SIGUSR1 to the processes;
# they save and end with status 99, and regroup-run puts the job into the queue again. It then
# continues from the checkpoint, on any number of nodes.
#
#   sbatch checkpoint.sh
#   sbatch checkpoint.sh 5000          so many steps
#SBATCH --job-name=checkpoint
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=4
#SBATCH --time=10
#SBATCH --signal=USR1@60
# --requeue permits it; the output of each start is appended to the same file.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
#SBATCH --no-kill

# --restart: when processes are lost that the others cannot do without, the job starts again in the
# same allocation, on the nodes that are left. The checkpoint is in the folder of the job, which all
# nodes see. -n: after a requeue the job may have another number of nodes (see grow.sh).
regroup-run --requeue --restart=3 -n $((4 * SLURM_JOB_NUM_NODES)) \
  example-spare "${1:-2000}" 20 "plate-$SLURM_JOB_ID"

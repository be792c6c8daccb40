#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# A job that survives the loss of processes and of nodes, with fewer processes than before.
#
#   sbatch survive.sh
#SBATCH --job-name=survive
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=4
#SBATCH --time=10
#SBATCH --output=%x-%j.out
# Without these two a lost node ends the job, or puts a job into the queue again that has finished.
#SBATCH --no-kill
#SBATCH --no-requeue

# Inside a job regroup-run calls srun, with the options that survival needs. All options of srun
# may follow: -N, -n, --cpu-bind, ...
regroup-run example-spare 200 20

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# Two kinds of nodes in one job: one with much memory, two others. All processes are in one
# MPI_COMM_WORLD; those of the first part have the lowest ranks. Lost processes are survived. A lost
# node is too, but when Slurm takes it for down (SlurmdTimeout) it ends all parts of such a job.
#
#   sbatch heterogeneous.sh
#SBATCH --job-name=heterogeneous
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --mem=200
#SBATCH --time=10
#SBATCH --output=%x-%j.out
#SBATCH --no-kill
#SBATCH hetjob
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --mem=100
#SBATCH --no-kill

regroup-run --het-group=0,1 example-spare 200 20

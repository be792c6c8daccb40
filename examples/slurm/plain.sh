#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# A job without survival: when a process is lost, Slurm ends the others.
#
#   sbatch plain.sh
#SBATCH --job-name=plain
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=4
#SBATCH --time=10
#SBATCH --output=%x-%j.out

# pmi2 is the protocol that MPICH speaks. --kill-on-bad-exit: otherwise the processes that are left
# may wait for the lost one until the time limit.
srun --mpi=pmi2 --kill-on-bad-exit=1 example-jacobi

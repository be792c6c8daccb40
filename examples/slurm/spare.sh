#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# A job with a spare node: its processes sleep until others are lost, and then take their ranks. So
# the program keeps its size.
#
#   sbatch spare.sh
#SBATCH --job-name=spare
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=4
#SBATCH --time=10
#SBATCH --output=%x-%j.out
#SBATCH --no-kill
#SBATCH --no-requeue

# The last 4 processes are in reserve. With the distribution by blocks these are those of the last
# node: the working processes are on three nodes.
export RG_RESERVE=4
regroup-run --distribution=block example-spare 200 20

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# Work of many independent parts, by as many jobs as there are nodes for: each takes the next part
# until none is left. To grow, start this script once more; to shrink, scancel a job, and remove the
# folders of the parts that it has left.
#
#   sbatch tasks.sh FOLDER PARTS
#SBATCH --job-name=tasks
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --time=10
#SBATCH --output=%x-%j.out
#SBATCH --no-requeue

folder=$1 parts=$2
mkdir -p "$folder"
for ((part = 1; part <= parts; part++)); do
  # Of all jobs that try, one makes the folder, and with it takes the part.
  mkdir "$folder/$part" 2>/dev/null || continue
  regroup-run example-spare "$part" >"$folder/$part/result" && touch "$folder/$part/done"
done

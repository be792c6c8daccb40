#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# Lets a running job of checkpoint.sh continue on more nodes, or on fewer. MPI's world cannot grow
# while it runs: the job saves, ends, and is started again from its checkpoint.
#
#   ./grow.sh JOB NODES
set -eu
job=$1 nodes=$2

state() {
  scontrol show job "$job" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p'
}

scancel --signal=USR1 "$job"
while [ "$(state)" != PENDING ]; do
  [ "$(state)" != COMPLETED ] # it was at its end
  sleep 1
done
scontrol update jobid="$job" NumNodes="$nodes-$nodes"

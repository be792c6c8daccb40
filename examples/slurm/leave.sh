#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# Takes a node from a running job before it is switched off: its processes leave first, in order,
# and lose nothing. The program must do its part: example-spare looks for this file after each step,
# and removes it when they have left.
#
#   ./leave.sh JOB NODE PATH           PATH: of the job's checkpoints
set -eu
job=$1 node=$2 path=$3

# No other job gets the node. (An administrator's command, who may have done it already.)
scontrol update nodename="$node" state=drain reason=maintenance || :
echo "$node" >"$path.leave"
while [ -e "$path.leave" ]; do
  squeue --noheader --job "$job" >/dev/null || exit # the job has ended meanwhile
  sleep 1
done

# The job gives the node back. To the others this is the loss of processes that are in no group.
others=$(scontrol show hostnames "$(squeue --noheader --format=%N --job "$job")" | grep -vx "$node")
scontrol update jobid="$job" NodeList="$(echo $others | tr ' ' ,)"

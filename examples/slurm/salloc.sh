#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# The same from a login node, without a batch script. srun and regroup-run run on the login node,
# so none of the job's nodes is special: any one may be lost.
#
#   ./salloc.sh
salloc --job-name=salloc --nodes=3 --ntasks-per-node=4 --time=10 --no-kill \
  regroup-run example-spare 200 20

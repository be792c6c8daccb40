#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# Stands in for ssh when mpiexec starts its proxies: "node.sh [options] HOST COMMAND"
# runs COMMAND in the namespaces REGROUP_ENTER of the process REGROUP_NODE_<HOST>.
while :; do
  case $1 in
    -[lpoi]) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
eval "holder=\$REGROUP_NODE_$1"
shift
exec nsenter --target "$holder" $REGROUP_ENTER -- sh -c "exec $*"

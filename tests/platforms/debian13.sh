#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# A fresh Debian 13: the build, the demo and a selection of the tests. The suite alone has not got
# this one; `.ci/run` runs it last: tests/run_tests.py --also tests/platforms/debian13.sh
#
# time: 440
exec tests/platforms/run --short debian13

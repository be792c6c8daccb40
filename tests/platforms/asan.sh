#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# The quick tests with AddressSanitizer and UndefinedBehaviorSanitizer, after their build. `.ci/run`
# runs it: tests/run_tests.py --also tests/platforms/asan.sh
#
# time: 900
set -e
scons -Q BUILD=asan tests
exec tests/run_tests.py --build build/asan --quick

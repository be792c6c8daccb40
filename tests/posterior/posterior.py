# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs regroup-posterior for the tests, in the way of tests/mcmc."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../mcmc'))
import mcmc  # noqa: E402

mcmc.BIN = os.path.join(os.path.dirname(mcmc.BIN), 'regroup-posterior')
BIN, MPIEXEC, start, result = mcmc.BIN, mcmc.MPIEXEC, mcmc.start, mcmc.result

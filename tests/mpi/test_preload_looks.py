#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A process that looks for messages in a row sleeps between its looks where there are fewer
processors than processes; one that gets something done between them, by a call that
libregroup-mpi.so serves, does not.

tier: quick
time: 60
beside: yes
"""
import re

from preload import LIBRARY, over_libfabric, run, skip, skip_openmpi, skip_sanitized, under

skip_sanitized()
skip_openmpi()
if over_libfabric():
    skip('over libfabric waits never sleep')

text, said = run(2, under(LIBRARY, 'tests/plain_looks', RG_OVERSUBSCRIBED='yes'))
for name in ['nothing', 'flush', 'fetch_and_op', 'allreduce']:
    sleeps = [int(n) for n in re.findall(r'^sleeps %s (\d+)$' % name, text, re.M)]
    assert len(sleeps) == 2, (name, text, said)
    assert min(sleeps) >= 20 if name == 'nothing' else max(sleeps) < 20, (name, text)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Members that read long blocks from one another's memory, each with a processor of its own as far as
the library knows, while some are killed at any moment: the survivors' results are right, and none
waits for a dead one. See long_blocks.c.

time: 90
beside: yes
"""
import re

import deaths
import jobs

ENV = dict(deaths.ENV, RG_OVERSUBSCRIBED='no', RG_WAIT='yield', RG_ARENA_SIZE='64')

for np, killed in (3, 0), (3, 1), (4, 1), (4, 2), (7, 1), (7, 3):
    status, text = jobs.run(np, 'tests/long_blocks', 10, killed, jobs.SEED + np, env=ENV)
    found = re.search(r'^RESULT (\d+) (\d+) (\d+) ', text, re.M)
    assert status == 0 and found, (np, killed, status, text)
    assert int(found[1]) >= 10 and int(found[2]) == np - killed and int(found[3]) == killed, text

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Arrays that span two pretended nodes when all ranks of one are killed, also in the middle of an
rg_array_sync, or one of them. See mirrored.c.

time: 180
beside: yes
"""
import re

import jobs

for np in 2, 3, 4, 7:
    for how in 'all', 'one', 'unmirrored', 'during', 'during', 'during':
        status, text = jobs.run(np, 'tests/mirrored', how, where=jobs.TWO)
        kept = re.search(r'^KEPT (\d+)$', text, re.M)
        assert status == 0 and kept, (np, how, status, text)
        assert int(kept[1]) == np - 1 if how == 'one' else 1 <= int(kept[1]) < np, (np, how, kept)

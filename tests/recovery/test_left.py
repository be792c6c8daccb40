#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A message that rg_finalize still sends to a process that has ended is no error, and rg_finalize
does not wait for an explanation. See left.c.

time: 60
beside: yes
"""
import jobs

status, text = jobs.run(2, 'tests/left', where=jobs.TWO)
assert status == 0 and 'LEFT\n' in text, (status, text)

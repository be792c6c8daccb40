#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A process of a program on Global Arrays' interface is killed: the others recover the arrays under their
handles and go on. See ga_lost.c.

tier: default
beside: yes
"""
import jobs

for victim in 0, 2:
    status, text = jobs.run(4, 'tests/ga_lost', victim)
    assert status == 0 and 'KEPT 4950 of 3, 3\n' in text, (victim, status, text)

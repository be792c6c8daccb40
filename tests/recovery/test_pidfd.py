#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Where the kernel has no pidfd_open, or a container does not allow it, rg_init of a job that survives on
several nodes says so on all processes, instead of noticing no death later. On one node deaths are
noticed without. See without_pidfd.c.

beside: yes
"""
import errno
import os
import sys

import deaths
import jobs


def run(where, error, np=4):
    words = [*where.begin(np), '-n', str(np), jobs.path('tests/without_pidfd'), str(error),
             jobs.path('tests/waiting'), 'sleep', '0']
    status, text = jobs.output(words, dict(deaths.ENV, **where.env), 60)
    if 'NO FILTER' in text:
        print('no seccomp here')
        sys.exit(77)
    return status, text


for error in errno.ENOSYS, errno.EPERM:
    status, text = run(jobs.TWO, error)
    assert status != 0 and 'SURVIVED' not in text, (status, text)
    assert 'rg_init: pidfd_open: ' + os.strerror(error) in text, (status, text)
    status, text = run(jobs.ONE, error)
    assert status == 0 and 'SURVIVED 3\n' in text, (status, text)

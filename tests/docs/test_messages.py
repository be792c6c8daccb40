#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""docs/troubleshooting.md has each message of the library that asks the reader to do something, and no
other one before its last section.

tier: quick
time: 20
beside: yes
"""
import re
import sys

from messages import messages
from pages import read

listed = re.findall(r'^- `(.*)`$', read('docs/troubleshooting.md').split('\n## Other reports')[0], re.M)
wrong = ['docs/troubleshooting.md: missing: ' + m for m in messages() if m not in listed] + \
    ['docs/troubleshooting.md: no such message: ' + m for m in listed if m not in messages()]
print('\n'.join(wrong))
sys.exit(1 if wrong or len(listed) < 30 else 0)

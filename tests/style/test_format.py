#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""All C files are formatted as .clang-format says, where the clang-format of Debian 12 is there (others break
some lines in another way); every source names its licence; no file has a conflict's markers.

tier: quick
beside: yes
"""
import os
import re
import shutil
import subprocess
import sys

VERSION = '14'

def files():
    """What git knows or would add; without git, all that is not hidden or built."""
    git = subprocess.run('git ls-files --cached --others --exclude-standard', shell=True,
                         capture_output=True, text=True)
    if git.returncode == 0:
        return [f for f in git.stdout.splitlines() if os.path.exists(f)]
    return [os.path.join(folder, f)[2:] for folder, _, names in os.walk('.') for f in names
            if not folder.startswith('./build') and '/.' not in folder]


def licence_missing(name):
    with open(name, errors='replace') as f:
        return 'SPDX-License-Identifier: BSD-3-Clause' not in f.read(400)


def has_markers(name):
    with open(name, errors='replace') as f:
        return any(line.startswith(('<' * 7 + ' ', '>' * 7 + ' ')) for line in f)


sources = [f for f in files() if f.endswith(('.c', '.h'))]
bare = [f for f in files() if f.endswith(('.c', '.h', '.py', '.sh')) and licence_missing(f)]
for name in bare:
    print('%s: no SPDX line near its top' % name)
marked = [f for f in files() if not os.path.islink(f) and has_markers(f)]
for name in marked:
    print('%s: a conflict that was not resolved' % name)
if bare or marked:
    sys.exit(1)
def formatter():
    for name in ['clang-format-' + VERSION, 'clang-format']:
        if shutil.which(name):
            said = subprocess.run([name, '--version'], capture_output=True, text=True).stdout
            if re.search(r'version %s\b' % VERSION, said):
                return name


name = formatter()
if not name:
    print('the licences and markers are right; there is no clang-format %s, so the format is not judged' % VERSION)
    sys.exit(0)
# All at once: to start it costs ten times as much as to look at a file.
said = subprocess.run([name, '--dry-run', '--Werror', *sources], text=True,
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
for name in sorted(set(re.findall(r'^(\S.*?):\d+:\d+: ', said.stdout, re.M))):
    print('%s: not formatted; clang-format -i mends it' % name)
if said.returncode and said.stdout.count(': error: ') == 0:
    print(said.stdout)
sys.exit(1 if said.returncode else 0)

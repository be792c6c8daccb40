#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What had another name before the second design does not come back: words of the old glossary,
and the identifiers and files of tests/style/retired.txt. History may name them.

beside: yes
"""
import os
import re
import subprocess
import sys

HISTORY = ('CHANGELOG.md', 'docs/rationale.md', 'docs/changes-', 'tests/style/retired.txt',
           'tests/style/test_words.py')
# Words that have no plain meaning in this library.
WORDS = ['council', 'verdict', 'despair', 'vault', 'crew', 'orphans', 'keeper', 'letter', 'speaker',
         'ward', 'births', 'guardian', 'motion', 'annex', 'ledger', 'liveness']
FOLDERS = ('pgroup/', 'arrays/', 'lb/', 'include/', 'docs/', 'examples/', 'README.md')
WORD = re.compile(r'(?<![A-Za-z])(%s)(?:s|es)?(?![a-z])' % '|'.join(WORDS), re.I)
# The plain meaning, or somebody else's name.
PLAIN = re.compile(r'letter[- ]?size|lower-?case letters?|upper-?case letters?|letters, digits|capital letters?|'
                   r'up to .letter', re.I)

failures = []
git = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'],
                     capture_output=True, text=True)
files = [f for f in git.stdout.split() if os.path.isfile(f) and not f.startswith(HISTORY)]
if git.returncode or not files:
    print('git does not list the files')
    sys.exit(77)
with open('tests/style/retired.txt') as f:
    retired = {line.strip() for line in f if line.strip() and not line.startswith('#')}
identifiers = {r for r in retired if '/' not in r}
for path in sorted(retired - identifiers):
    if os.path.exists(path):
        failures.append('%s is back' % path)
for name in files:
    try:
        with open(name) as f:
            lines = f.read().splitlines()
    except UnicodeDecodeError:
        continue
    for number, line in enumerate(lines, 1):
        for word in sorted(identifiers & set(re.findall(r'[A-Za-z_]\w*', line))):
            failures.append('%s:%d: %s is back' % (name, number, word))
        if name.startswith(FOLDERS):
            found = WORD.search(PLAIN.sub('', line))
            if found:
                failures.append('%s:%d: the word "%s"' % (name, number, found.group(0)))
print('\n'.join(failures + ['%d files, %d failures' % (len(files), len(failures))]))
sys.exit(1 if failures else 0)

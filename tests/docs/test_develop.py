#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The pages for developers (docs/develop) are short, name files that exist, and their links lead
somewhere. A page's limit of lines stands in LINES, a limit for all pages in pages.py. The hosted
workflow runs the scripts of .ci, each once, and nothing else.

tier: quick
beside: yes
"""
import glob
import os
import re
import sys

from pages import broken_links, read, too_long

LINES = {'decisions.md': 600, 'platforms.md': 250, 'testing.md': 80, 'releasing.md': 80}
FILE = r'`((?:pgroup|arrays|lb|tests|include|docs|examples)/[\w./]+)`'



def workflow_failures(path='.github/workflows/ci.yml'):
    text = read(path)
    scripts = [name for names in re.findall(r'script: \[(.*)\]', text) for name in re.split(', *', names)]
    if sorted(scripts) != sorted(os.listdir('.ci')):
        yield '%s runs %s, .ci has %s' % (path, sorted(scripts), sorted(os.listdir('.ci')))
    yield from ('.ci/%s cannot be executed' % name for name in scripts if not os.access('.ci/' + name, os.X_OK))
    yield from ('%s: run: %s' % (path, command) for command in re.findall(r'run: *(.*)', text)
                if command != '.ci/${{ matrix.script }}')


failures = [*workflow_failures()]
pages = sorted(glob.glob('docs/develop/*.md'))
for page in pages:
    text = read(page)
    failures += [*broken_links(page), *too_long(page)]
    failures += ['%s: %s does not exist' % (page, path) for path in re.findall(FILE, text)
                 if not os.path.exists(path)]
    most = LINES.get(os.path.basename(page))
    if most and text.count('\n') > most:
        failures.append('%s has %d lines, of %d' % (page, text.count('\n'), most))
print('\n'.join(failures + ['%d pages, %d failures' % (len(pages), len(failures))]))
sys.exit(1 if failures or not pages else 0)

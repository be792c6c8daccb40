#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The documents stay short: cells of tables, paragraphs, two pages, and all pages together.

tier: quick
beside: yes
"""
import re
import sys

from pages import PAGES as ALL, read, too_long

PAGES = [page for page in ALL if page in ('README.md', 'CHANGELOG.md') or page.startswith('docs/')]
MOST_LINES = {'docs/performance.md': 350, 'CHANGELOG.md': 80}
MOST_WORDS = 50000  # of these pages
# Lists of all names or messages, each checked by a test: their tables and items do not count.
LISTS = ['docs/reference.md', 'docs/environment.md', 'docs/from-global-arrays.md',
         'docs/troubleshooting.md']


def words(page):
    """The number of words, which have a letter, without programs and commands."""
    text = re.sub(r'^```.*?^```$|^ {4,}[^\n]*$', '', read(page), flags=re.M | re.S)
    if page in LISTS:
        text = re.sub(r'^(\||- `).*(\n  \S.*)*', '', text, flags=re.M)
    return len([w for w in text.split() if re.search(r'[^\W\d_]', w)])


def main():
    wrong = [text for page in ALL for text in too_long(page)]
    for page in set(PAGES) & set(MOST_LINES):
        lines = read(page).count('\n')
        if lines > MOST_LINES[page]:
            wrong.append('%s: %d lines of at most %d' % (page, lines, MOST_LINES[page]))
    counts = {page: words(page) for page in PAGES}
    total = sum(counts.values())
    if total > MOST_WORDS:
        wrong += ['%6d words: %s' % (counts[page], page) for page in PAGES]
        wrong.append('%d words of at most %d' % (total, MOST_WORDS))
    print('\n'.join(wrong + ['%d words in %d pages' % (total, len(PAGES))]))
    sys.exit(1 if wrong else 0)


main()

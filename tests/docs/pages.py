# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The pages of the documentation, taken apart."""
import glob
import os
import re

PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'] + sorted(
    glob.glob('docs/**/*.md', recursive=True) + glob.glob('examples/*.md'))


def read(path):
    with open(path) as f:
        return f.read()


def blocks(page):
    """All fenced blocks: (line number of the fence, language, text)."""
    text = read(page)
    for found in re.finditer(r'^```(\w*)\n(.*?)^```$', text, re.M | re.S):
        yield text.count('\n', 0, found.start()) + 1, found[1], found[2]


def prose(page):
    """The page without its fenced blocks and code."""
    return re.sub(r'`[^`\n]*`', '', re.sub(r'^```.*?^```$', '', read(page), flags=re.M | re.S))


def anchors(page):
    """The names that a browser gives to the headings."""
    headings = re.findall(r'^#+ (.*)$', re.sub(r'^```.*?^```$', '', read(page), flags=re.M | re.S),
                          re.M)
    plain = [re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', h) for h in headings]
    return {re.sub(r'[^\w\- ]', '', h.lower()).replace(' ', '-') for h in plain}


def broken_links(page):
    for target in re.findall(r'\]\(([^)\s]+)\)', prose(page)):
        if re.match(r'https?:', target):
            continue
        path, _, anchor = target.partition('#')
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(path):
            yield '%s: the link to %s leads nowhere' % (page, target)
        elif anchor and anchor not in anchors(path):
            yield '%s: %s has no heading #%s' % (page, path, anchor)


def too_long(page, words=120, characters=200):
    """Paragraphs (an item of a list is one) and cells of tables that are too long."""
    for paragraph in re.split(r'\n\s*\n|\n(?= *(?:[-*]|\d+\.) |[|#])', prose(page)):
        if not paragraph.startswith('|') and len(paragraph.split()) > words:
            yield '%s: a paragraph of %d words: %.40s' % (page, len(paragraph.split()), paragraph)
    for row in re.findall(r'^\|.*\|$', read(page), re.M):
        for cell in row.split('|'):
            if len(cell.strip()) > characters:
                yield '%s: a cell of %d characters: %.40s' % (page, len(cell.strip()), cell)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Names of the library: what an internal header declares carries the header's name, no type name
stands for two things, and no bare verb is the name of static functions all over the tree.

tier: quick
beside: yes
"""
import collections
import os
import re
import sys

import sources

FILES_OF_A_WORD = 2  # static functions with the same one-word name: in so many files at most
EXPLAINED = 60       # lines from which a source says what it is for

rooms = sources.read_rooms()
files = sources.library_files(rooms)
failures = []


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def carries(name, header):
    """rgi_<stem>, or a leading part of the stem up to an underscore; a plural s is accepted."""
    words = stem(header).split('_')
    for n in range(len(words), 0, -1):
        part = '_'.join(words[:n])
        if re.match(r'rgi_%ss?(_|$)' % part, name) or name == 'rgi_' + part:
            return True
    return False


def check_declared():
    for header in files:
        if header.endswith('.h'):
            for name in sorted(sources.declared(header)):
                if not carries(name, header):
                    failures.append('%s declares %s' % (header, name))


def types_in(text):
    text = sources.without_comments(text)
    found = set(re.findall(r'^\} (\w+);', text, re.M))
    found |= set(re.findall(r'^(?:typedef )?(?:struct|union|enum) (\w+) \{', text, re.M))
    return found


def check_types():
    where = collections.defaultdict(set)
    for f in files:
        for name in types_in(sources.read(f)):
            where[name].add(f)
    for name, found in sorted(where.items()):
        # A type's struct may be defined in the source of the header that names it.
        if len({stem(f) for f in found}) > 1 and not is_one_type(name, found):
            failures.append('type %s stands in %s' % (name, ', '.join(sorted(found))))


def is_one_type(name, found):
    """An incomplete type of a header that one other file completes."""
    text = ''.join(sources.read(f) for f in found)
    return len(re.findall(r'struct %s \{' % name, text)) + \
        len(re.findall(r'^\} %s;' % name, text, re.M)) == 1


def check_statics():
    where = collections.defaultdict(set)
    for f in files:
        if f.endswith('.c'):
            text = sources.without_comments(sources.read(f))
            for name in re.findall(r'^(?:static|__attribute__\S+ static) [\w \*]*?[ \*]([a-z]+)\(',
                                   text, re.M):
                where[name].add(f)
    for name, found in sorted(where.items()):
        if len(found) > FILES_OF_A_WORD:
            failures.append('static %s() stands in %d files: %s' %
                            (name, len(found), ', '.join(sorted(found))))


def check_purpose():
    for f in files:
        text = sources.read(f)
        if f.endswith('.c') and text.count('\n') >= EXPLAINED:
            if not re.match(r'/\* SPDX[^\n]*\n \* Copyright[^\n]*\n \*\n \* \w', text):
                failures.append('%s does not say what it is for' % f)


check_declared()
check_types()
check_statics()
check_purpose()
for text in failures:
    print(text)
print('%d files, %d failures' % (len(files), len(failures)))
sys.exit(1 if failures else 0)

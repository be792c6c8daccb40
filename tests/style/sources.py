# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What the tests of this folder know of the library's sources: rooms, files, includes, names and,
from the built objects, which function calls which."""
import collections
import glob
import os
import re
import subprocess

ROOMS_FILE = 'pgroup/rooms.txt'


def read_rooms():
    """The rooms, from the ground floor up."""
    with open(ROOMS_FILE) as f:
        return [line.split()[0] for line in f if line.strip() and not line.startswith('#')]


def library_files(rooms):
    """All sources and headers of the rooms, by path."""
    return sorted(f for room in rooms for f in glob.glob(room + '/*.[ch]'))


def room_of(path):
    return os.path.dirname(path)


def read(path):
    with open(path, errors='replace') as f:
        return f.read()


def without_comments(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*', lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text,
                  flags=re.S)


def includes(path, files):
    """The library's own headers that a file includes, by path."""
    found = set()
    for name in re.findall(r'#include "([^"]+)"', read(path)):
        for folder in ['pgroup/', 'arrays/', 'lb/', '']:
            if folder + name in files:
                found.add(folder + name)
                break
    return found


def objects_of(files, build):
    """For each source its built object."""
    return {f: '%s/obj/%s.os' % (build, f[:-2]) for f in files if f.endswith('.c')}


def symbols(objects):
    """What each source defines, and what it needs."""
    defined, needed = {f: set() for f in objects}, {f: set() for f in objects}
    source_of = {built: source for source, built in objects.items()}
    out = subprocess.run(['nm', '-A', *source_of], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        built, rest = line.split(':', 1)
        *_, kind, name = rest.split()
        if kind in 'TDBRVWC':
            defined[source_of[built]].add(name)
        elif kind == 'U':
            needed[source_of[built]].add(name)
    return defined, needed


def calls(objects):
    """For each source the sources whose functions or variables it uses, with their names. What
    several sources define (the stand-ins of a library's copy), and MPI's own names, do not count."""
    defined, needed = symbols(objects)
    owners = collections.defaultdict(set)
    for source, names in defined.items():
        for name in names:
            owners[name].add(source)
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for source, names in needed.items():
        for name in names:
            if len(owners[name]) == 1 and not name.startswith(('MPI_', 'PMPI_')):
                owner = next(iter(owners[name]))
                if owner != source:
                    found[source][owner].add(name)
    return found


def declared(header):
    """The internal functions, types and variables that a header declares."""
    text = without_comments(read(header))
    text = re.sub(r'^#[^\n]*(\\\n[^\n]*)*', '', text, flags=re.M)
    inline_text = re.sub(r'\{[^{}]*\}', '{}', text)
    while inline_text != text:
        text, inline_text = inline_text, re.sub(r'\{[^{}]*\}', '{}', inline_text)
    names = set(re.findall(r'^(?:static inline |extern |__attribute__\S+ )*[A-Za-z_][\w \*]*?[ \*]'
                           r'(rgi_\w+)\s*\(', text, re.M))
    names |= set(re.findall(r'^extern [\w \*()]*?\b(rgi_\w+)(?:\[\w*\])?(?:\)\([^;]*\))?;', text, re.M))
    names |= set(re.findall(r'^\} (rgi_\w+);', text, re.M))
    names |= set(re.findall(r'^typedef [^;{}]*?\b(rgi_\w+);', text, re.M))
    names |= set(re.findall(r'^typedef [^;{}]*?\(\*(rgi_\w+)\)\(', text, re.M))
    names |= set(re.findall(r'^(?:typedef )?(?:struct|union|enum) (rgi_\w+) \{', text, re.M))
    return names


def circles(graph):
    """The strongly connected parts with more than one member."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(graph.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while not part or part[-1] != v:
                part.append(stack.pop())
                on.discard(part[-1])
            if len(part) > 1:
                found.append(sorted(part))

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found

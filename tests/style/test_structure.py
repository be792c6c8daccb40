#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The structure of the library is the one that pgroup/rooms.txt lists: no room includes a header
of a higher room or calls its functions, and inside a room there are no circles but between the
files of one object. Of pgroup/mpich the other rooms include mpich.h alone.

The files of one object are a header and the sources that define what it declares, and a source
and header of one name.

tier: quick
beside: yes
"""
import collections
import os
import sys

import sources

NO_MPI = ('pgroup/base/', 'pgroup/shm/', 'pgroup/access/', 'pgroup/noded/')
# Folders of programs, which stand in the room that they show.
PROGRAMS = ['pgroup/runtime/info', 'pgroup/runtime/program', 'pgroup/topology/tool',
            'pgroup/recovery/run', 'lb/simulator', 'lb/patterns']
# What another MPI's library has instead.
NOT_BUILT = ['pgroup/mpi/survival_stubs.c', 'pgroup/mpi/ulfm_stubs.c']

build = os.environ.get('RGT_BUILD', 'build/release')
if 'openmpi' in build:
    print('a build with Open MPI has not all files: it serves no windows')
    sys.exit(77)
rooms = sources.read_rooms()
floor = {room: i for i, room in enumerate(rooms)}
files = [f for f in sources.library_files(rooms) if f not in NOT_BUILT]
failures = []


def fail(text, *details):
    failures.append('\n    '.join([text, *map(str, details)]))


def check_folders():
    for top in ['pgroup', 'arrays', 'lb']:
        for folder, _, names in os.walk(top):
            if any(n.endswith(('.c', '.h')) for n in names) and folder not in rooms + PROGRAMS:
                fail('%s is in no room of %s' % (folder, sources.ROOMS_FILE))


def check_floors(uses, how):
    """uses: for each file the files that it uses."""
    for f in sorted(uses):
        for other in sorted(uses[f]):
            here, there = sources.room_of(f), sources.room_of(other)
            if floor[there] > floor[here]:
                fail('%s %s %s of a higher room' % (f, how, other), *sorted(uses[f][other]))


def check_mpich():
    """Of the room of what depends on MPICH's inside the others include one header."""
    for f in files:
        for header in included[f]:
            if sources.room_of(header) == 'pgroup/mpich' != sources.room_of(f) and \
                    header != 'pgroup/mpich/mpich.h':
                fail('%s includes %s' % (f, header))


def check_mpi(includes_mpi, needed):
    for f in files:
        if not f.startswith(NO_MPI):
            continue
        if includes_mpi(f):
            fail('%s includes mpi.h: its room uses no MPI' % f)
        for name in sorted(needed.get(f, ())):
            if name.startswith(('MPI_', 'PMPI_')):
                fail('%s calls %s: its room uses no MPI' % (f, name))


def objects_in(room, defined):
    """A name for the object that each file of the room belongs to."""
    mine = [f for f in files if sources.room_of(f) == room]
    parent = {f: f for f in mine}

    def root(f):
        while parent[f] != f:
            f = parent[f]
        return f

    for header in [f for f in mine if f.endswith('.h')]:
        names = sources.declared(header)
        for source in [f for f in mine if f.endswith('.c')]:
            if source[:-2] == header[:-2] or names & defined[source]:
                parent[root(source)] = root(header)
    return {f: root(f) for f in mine}


def check_circles(uses, defined, how):
    for room in rooms:
        objects = objects_in(room, defined)
        graph = collections.defaultdict(set)
        for f in objects:
            for other in uses.get(f, ()):
                if other in objects and objects[f] != objects[other]:
                    graph[objects[f]].add(objects[other])
        for circle in sources.circles(graph):
            fail('%s: a circle of %s between objects:' % (room, how),
                 *['%s: %s' % (o, ' '.join(sorted(os.path.basename(f) for f in objects
                                                  if objects[f] == o))) for o in circle])


check_folders()
objects = sources.objects_of(files, build)
missing = [o for o in objects.values() if not os.path.exists(o)]
if missing:
    print('not built: %s' % ', '.join(missing[:3]))
    sys.exit(1)
defined, needed = sources.symbols(objects)
included = {f: {other: [] for other in sources.includes(f, files)} for f in files}
called = sources.calls(objects)
for name in files:
    if 'getenv("RG_' in sources.read(name):
        fail('%s reads an option past base/option_table.h' % name)
check_floors(included, 'includes')
check_floors(called, 'uses functions or variables of')
check_mpi(lambda f: '<mpi.h>' in sources.read(f), needed)
check_mpich()
check_circles(included, defined, 'includes')
check_circles(called, defined, 'calls')
for text in failures:
    print(text)
print('%d files in %d rooms, %d failures' % (len(files), len(rooms), len(failures)))
sys.exit(1 if failures else 0)

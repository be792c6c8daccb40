#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-topo: hierarchies of pretended and running jobs, the picture, wrong options.

tier: quick
time: 120
beside: yes
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

TOPO = os.path.join(os.environ.get('RGT_BUILD', 'build'), 'bin', 'regroup-topo')
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()
SVG = '{http://www.w3.org/2000/svg}'
LOPSIDED = ['--machine', 'tests/topology/lopsided.xml', '--ranks', '8', '--bind',
            '0;5;1;6;2;none;4;0-1']

failures = []


def check(good, *what):
    if not good:
        failures.append(' '.join(str(w) for w in what))


def topo(*args, np=0, **env):
    command = [*MPIEXEC, '-n', str(np), TOPO, *args] if np else [TOPO, *args]
    base = {k: v for k, v in os.environ.items()
            if not re.match('RG_TOPOLOGY|RG_BIND|HWLOC_(XML|SYN)|LC_|LANG', k)}
    done = subprocess.run(command, capture_output=True, text=True,
                          env=dict(base, **env))
    return done.returncode, done.stdout, run_tests.without_banner(done.stderr)


def result(*args, np=0, **env):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'r.json')
        status, out, err = topo('--json', path, *args, np=np, **env)
        check(status == 0 and not err, args, status, err)
        with open(path) as f:
            return json.load(f), out


def levels(level):
    yield level
    for below in level['below']:
        yield from levels(below)


def brute_force(places, ranks):
    """The hierarchy from each rank's resources alone: for every rank the largest smaller set that
    shares one."""
    found = {}
    for r in ranks:
        best = []
        inside = places[r]['inside']
        for i in range(len(inside)):
            sharers = [q for q in ranks if places[q]['node'] == places[r]['node'] and
                       places[q]['inside'][:i + 1] == inside[:i + 1]]
            if len(best) < len(sharers) < len(ranks):
                best = sharers
        if best:
            found[tuple(best)] = brute_force(places, best)
    return found


def as_sets(level):
    return {tuple(b['ranks']): as_sets(b) for b in level['below']}


def check_tree(r, *what):
    check(as_sets(r['hierarchy']) == brute_force(r['places'], list(range(r['ranks']))), *what)
    for level in levels(r['hierarchy']):
        check(level['resources'][0].split()[0] == level['type'], *what, level)
        parts = sorted(sum((b['ranks'] for b in level['below']), level['loose']))
        check(parts == level['ranks'], *what, 'parts are not the whole', level['ranks'])
        for i, below in enumerate(level['below']):
            check((below['index'], below['siblings']) == (i, len(level['below'])), *what, below)


def test_by_hand():
    r, out = result('--machine', 'pack:2 [numa] l3:1 l2:4 core:1 pu:1', '--ranks', '8')
    root = r['hierarchy']
    check([b['resources'] for b in root['below']] ==
          [['Package %d' % i, 'NUMANode %d' % i, 'L3Cache %d' % i] for i in range(2)], root)
    check([b['resources'] for p in root['below'] for b in p['below']] ==
          [['L2Cache %d' % i, 'Core %d' % i, 'PU %d' % i] for i in range(8)], root)
    check((r['levels'], r['nodes'], r['machine'], r['binding']) ==
          (2, ['node0'], 'pack:2 [numa] l3:1 l2:4 core:1 pu:1', 'compact'), r)
    check(out.startswith('8 ranks on 1 node, 2 levels below the whole\n'), out)
    check(re.search(r'^\|- Package 0 +ranks 0-3 +NUMANode 0, L3Cache 0$', out, re.M), out)
    check(re.search(r'^   `- L2Cache 7 +rank  7 +Core 7, PU 7$', out, re.M), out)


def test_shapes():
    for args in [['--machine', 'pack:2 core:2 pu:1', '--ranks', str(n), '--bind', how]
                 for n in [1, 2, 3, 7, 8] for how in ['compact', 'scatter', 'none', '0', '0-1;2;3']
                 ] + [LOPSIDED, ['--nodes', '3', '--ranks', '7', '--machine', 'numa:2 core:2 pu:1'],
                      ['--machine', 'group:2 pack:2 l3:2 core:2 pu:2'], ['--ranks', '5'], []]:
        r, _ = result(*args, *([] if args else ['--bind', 'none']))
        check_tree(r, *args)
    r, _ = result(*LOPSIDED)
    kinds = [level['type'] for level in levels(r['hierarchy'])]
    check(kinds == ['Machine', 'Package', 'L3Cache', 'L2Cache', 'PU', 'PU', 'Core', 'Core',
                    'Package', 'Core', 'Core'], kinds)
    check(r['hierarchy']['loose'] == [5], 'loose', r['hierarchy']['loose'])


def test_filter():
    for words, kinds in [('memory', {'NUMANode', 'L3Cache', 'L2Cache'}), ('network', {'Machine'}),
                         ('compute', {'Package', 'Core', 'PU'}),
                         ('network,compute', {'Machine', 'Package', 'Core', 'PU'})]:
        r, _ = result('--machine', 'pack:2 [numa] l3:2 l2:2 core:1 pu:2', '--nodes', '2',
                      '--filter', words)
        found = {level['type'] for level in levels(r['hierarchy'])} - {'Cluster'}
        check(found and found <= kinds, words, found)


def test_running_job():
    """The running job gives what the pretended one does."""
    for machine, how, np in [('pack:2 [numa] l3:1 l2:4 core:1 pu:1', 'compact', 8),
                             ('pack:2 core:2 pu:2', 'scatter', 3),
                             ('tests/topology/lopsided.xml', LOPSIDED[-1], 7)]:
        pretended, _ = result('--machine', machine, '--bind', how, '--ranks', str(np))
        running, _ = result(np=np, RG_TOPOLOGY=machine, RG_BIND=how)
        for r in [pretended, running]:
            check(r['ranks'] == np and r['places'] and r['machine'] == machine, machine, np)
        check(pretended['places'] == running['places'], machine, 'places differ')
        check(as_sets(pretended['hierarchy']) == as_sets(running['hierarchy']), machine, 'differs')
    r, _ = result(np=4, MPIR_CVAR_NUM_CLIQUES='2', RG_TOPOLOGY='core:4 pu:1', RG_BIND='compact')
    check_tree(r, 'two nodes')
    if len(r['nodes']) == 2:
        check(as_sets(r['hierarchy']) == {(0, 2): {(0,): {}, (2,): {}}, (1, 3): {(1,): {}, (3,): {}}},
              'two nodes', r['hierarchy'])
    for np in [0, 1, 3]:
        r, _ = result(np=np)
        check(r['ranks'] == (np or 1) and r['machine'] is None, 'as it is', np)
        check_tree(r, 'as it is', np)


def test_no_level():
    """A process that is not bound, or to several resources of a type, is told so."""
    tests = os.path.join(os.path.dirname(TOPO), '..', 'tests')
    done = subprocess.run([*MPIEXEC, '-n', '1', os.path.join(tests, 'test_topology_groups')], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, RG_LOG='info'))
    check(done.stdout.count('no level, as this process is bound to no part of the machine: mpiexec') == 1,
          'not bound', done.stdout)
    for text in 'bound to processors of 2 NUMANodes, the whole machine: mpiexec', 'of 4 Cores\n', 'has no Die\n':
        check('rg_comm_split_level: this process ' in done.stdout and text in done.stdout, text, done.stdout)
    told = 'Rank 0 is bound to no part of the machine: mpiexec -bind-to core'
    for how, is_bound in ('none', False), ('compact', True):
        status, out, _ = topo(np=1, RG_TOPOLOGY='core:2 pu:1', RG_BIND=how)
        check(status == 0 and (told in out) != is_bound, how, out)


def test_svg():
    for args, ranks in [(LOPSIDED, 8), (['--machine', 'pack:2 core:8 pu:2', '--nodes', '2'], 64)]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a 'b'.svg")
            status, _, err = topo(*args, '--svg', path)
            check(status == 0 and not err, 'svg', status, err)
            with open(path) as f:
                text = f.read()
        picture = ET.fromstring(text)
        tiles = sorted(int(t.text) for t in picture.iter(SVG + 'text')
                       if re.fullmatch(r'\d+', t.text))
        check(tiles == list(range(ranks)), 'tiles', tiles)
        width, height = float(picture.get('width')), float(picture.get('height'))
        for box in picture.iter(SVG + 'rect'):
            if box.get('x'):
                x, y, w, h = (float(box.get(k)) for k in ['x', 'y', 'width', 'height'])
                check(0 <= x and x + w <= width and 0 <= y and y + h <= height, 'outside', x, y)
        check('<script' not in text and 'href' not in text, 'not self-contained')
        check(('dashed' in text) == (args == LOPSIDED), 'dashes are explained')


def test_wrong():
    for args, word in [(['word'], 'word'), (['--ranks', '0'], '--ranks'), (['--ranks', 'x'], 'x'),
                       (['--ranks', '-1'], '--ranks'), (['--nodes', '-1'], '--nodes'),
                       (['--ranks', '10001'], '10000'), (['--nodes', '0'], '--nodes'),
                       (['--nodes', '5', '--ranks', '4'], 'nodes'), (['--filter', 'cpu'], 'cpu'),
                       (['--filter', ''], 'filter'), (['--bind', 'sideways'], 'sideways'),
                       (['--machine', 'nonsense'], 'nonsense'),
                       (['--machine', 'pack:1000 core:1000 pu:1000'], '4096 threads'),
                       (['--machine', '/nonexistent.xml'], 'nonexistent')]:
        for np in [0, 2]:
            status, out, err = topo(*args, np=np)
            check(status == 2 and not out and err.count('\n') == 1 and word in err and
                  err.startswith('regroup-topo: '), args, np, status, out, err)
    for option in ['--svg', '--json']:
        status, out, err = topo(option, '/nonexistent/x')
        check(status == 1 and not out and err.count('\n') == 1, option, status, err)
    status, out, err = topo(np=3, RG_BIND='sideways')
    check(status == 2 and not out and err.count('\n') == 1 and 'sideways' in err, status, out, err)


for name, test in [(n, t) for n, t in globals().items() if n.startswith('test_')]:
    before = len(failures)
    test()
    print('%-16s %s' % (name, 'ok' if len(failures) == before else 'FAILED'))
for line in failures:
    print(line)
sys.exit(1 if failures else 0)

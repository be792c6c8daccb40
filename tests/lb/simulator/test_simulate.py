#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-simulate: what it prints, its JSON and SVG, what it refuses, and the time and
memory that many ranks take.

time: 180
beside: yes
"""
import json
import os
import resource
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

PROGRAM = os.environ['RGT_BUILD'] + '/bin/regroup-simulate'
EXAMPLE = os.environ['RGT_BUILD'] + '/bin/example-tempering'
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()
FULL = os.environ.get('RGT_TIER', 'all') == 'all'
SANITIZED = 'asan' in os.environ['RGT_BUILD']
WRONG = [['--policy=sideways'], ['--policy=sync:i=x'], ['--pattern=none'], ['--pattern=random:x'],
         ['--ranks=0'], ['--ranks=4,'], ['--ranks=x'], ['--machine=/nonexistent'], ['--unit=0'],
         ['--unit=1e-300'], ['--unit=1e-9', '--bound=1e9'],
         ['--least=33'], ['--least=-1'], ['--most=-1'], ['--least=3', '--most=2'], ['--late=-1'],
         ['--nodes=-1'], ['--nodes=33'], ['--between=-1'],
         ['--bound=-1'], ['--group=0'], ['--polls=0'], ['--steps=-1'], ['--jitter=1'], ['--serial=2'],
         ['--merge-cost=-1'], ['--latency=-1'], ['--startup=-1'], ['--seed=-1'], ['--view=1'], ['--json=/nonexistent/a.json'], ['word']]


def simulate(*args, status=0):
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True)
    assert done.returncode == status, (args, done)
    return done


def results(folder, *args):
    path = folder + '/result.json'
    done = simulate('--json', path, *args)
    assert done.stderr == '', done.stderr
    with open(path) as f:
        return json.load(f), done.stdout


def check_machines(folder):
    """Measured machines by which nothing can be reckoned."""
    for rows in [[(1, 1e-3)], [(2, 0), (8, 1e-3)], [(2, -1)], [(2, 1e300)], [(0, 1e-3)], []]:
        path = folder + '/machine.json'
        with open(path, 'w') as f:
            json.dump({'results': [{'contender': 'recursive', 'size': s, 'median': m}
                                   for s, m in rows]}, f)
        done = simulate('--machine', path, '-n', '32', status=2)
        assert 'machine' in done.stderr and path in done.stderr, done.stderr


def check_table(folder):
    """One row for each pattern, policy and number of ranks, the same in the table and in JSON."""
    out, text = results(folder, '-m', 'free', '-b', 'none', '-b', 'sync:i=16', '-n', '32,64',
                        '-w', 'published', '-w', 'descending')
    rows = out['results']
    assert [(r['pattern'], r['policy'], r['ranks']) for r in rows] == [
        (w, b, n) for w in ['published', 'descending'] for b in ['none', 'sync:i=16']
        for n in [32, 64]]
    assert [round(r['seconds'], 9) for r in rows[:4]] == [7, 7, 6.125, 6.125]
    assert rows[2]['regroupings']['mean'] == 5.375 and rows[0]['bound_seconds'] == 3.5
    lines = text.splitlines()
    assert len(lines) == 9 and lines[0].split()[:4] == ['policy', 'pattern', 'ranks', 'seconds']
    assert lines[1].split()[:4] == ['none', 'published', '32', '7.000'], text
    again, _ = results(folder, '-m', 'free', '-b', 'share-out', '-w', 'random:5', '-n', '4096')
    third, _ = results(folder, '-m', 'free', '-b', 'share-out', '-w', 'random:5', '-n', '4096')
    for r in again['results'] + third['results']:
        del r['simulation_seconds']
    assert again == third


def check_limits(folder):
    """Walkers for one process each do not run one after another; those that come late."""
    out, _ = results(folder, '-m', 'free', '-w', 'queue', '--most', '1', '-n', '8', '-b', 'none', '-b', 'share-out')
    for r in out['results']:
        assert r['seconds'] < 1.2 * r['bound_seconds'], r
    assert (out['least'], out['most'], out['late']) == (0, 1, 0)
    out, _ = results(folder, '-m', 'free', '-w', 'queue', '--least', '3', '--late', '5', '-n', '8')
    assert out['results'][0]['seconds'] > 5, out


def check_nodes(folder):
    """Groups stay on their nodes where crossing takes long; on one node none crosses."""
    crossed = []
    for nodes, between in ('4', '0'), ('4', '0.01'), ('1', '0.01'):
        out, _ = results(folder, '-m', 'free', '-n', '64', '--steps', '2', '--nodes', nodes, '--between', between)
        assert (out['nodes'], out['machine']['between']) == (int(nodes), float(between))
        crossed.append(out['results'][0]['crossed'])
    assert crossed[0] > 0 and crossed[1:] == [0, 0], crossed


def check_tempering(folder):
    """The pattern is the plan of the example: the same bound."""
    out, _ = results(folder, '-m', 'free', '-w', 'tempering', '-g', '1', '--most', '1', '-n', '2', '-u', '0.02',
                     '--bound', '2.4', '-b', 'none', '-b', 'share-out')
    run = subprocess.run([*MPIEXEC, '-n', '2', EXAMPLE, '--walkers', '4', '--sweeps', '40', '--most', '1',
                          '--sleep', '0.02'], capture_output=True, text=True)
    assert run.returncode == 0, run
    for r in out['results']:
        assert r['meetings'] == 4 and r['seconds'] >= r['bound_seconds'], r
        assert f"bound {r['bound_seconds']:.3f}" in run.stdout, (r, run.stdout)


def check_published(folder):
    """The figure: within 5 % of what was published, but for i = 128, which it explains."""
    out, text = results(folder, '--published')
    assert len(out['results']) == 15 and '6.475 s' in text and 'differs' in text
    for r in out['results']:
        off = r['seconds'] / r['published_seconds'] - 1
        assert abs(off) < (0.09 if r['policy'] == 'sync:i=128' else 0.05), r


def check_machine(folder):
    """Costs from a result of regroup-bench create."""
    path = folder + '/bench.json'
    rows = [{'size': n, 'contender': c, 'median': n * t} for n in [2, 4, 8]
            for c, t in [('recursive', 1), ('rg_group_create', 0.001)]]
    with open(path, 'w') as f:
        json.dump({'results': rows}, f)
    out, _ = results(folder, '-m', path)
    assert out['machine']['formation'] == [{'ranks': n, 'seconds': n * 0.001} for n in [2, 4, 8]]
    for text in ['', '{}', '{"results": [1]}']:
        with open(path, 'w') as f:
            f.write(text)
        assert path in simulate('-m', path, status=2).stderr


def check_costs(folder):
    """Costs given one by one take the place of the machine's."""
    out, _ = results(folder, '-n', '8', '--merge-cost=0.25', '--latency=0.125', '--startup=0.5', '--jitter=0.0625',
                     '--polls=3')
    said = {name: out['machine'][name] for name in ('latency', 'startup', 'jitter', 'polls')}
    assert said == {'latency': 0.125, 'startup': 0.5, 'jitter': 0.0625, 'polls': 3}, said
    assert {row['seconds'] for row in out['machine']['formation']} == {0.25}, out['machine']


def check_svg(folder):
    if not shutil.which('gnuplot'):
        return
    path = folder + '/a.svg'
    simulate('--published', '--svg', path, '-q')
    root = xml.etree.ElementTree.parse(path).getroot()
    text = ''.join(root.itertext())
    assert root.tag.endswith('svg') and 'join-right' in text and 'bound' in text
    assert simulate('--svg', '/nonexistent/a.svg', status=2).stdout == ''


def check_large(folder):
    out, _ = results(folder, '-n', '8192,131072', '-b', 'share-out', '-b', 'join-right')
    for r in out['results']:
        assert r['seconds'] < 1.2 * r['bound_seconds'], r
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    assert SANITIZED or used < 1024, used


with tempfile.TemporaryDirectory() as scratch:
    for check in [check_machines, check_table, check_limits, check_nodes, check_tempering, check_published, check_machine, check_costs, check_svg, *[check_large] * FULL]:
        check(scratch)
    for args in WRONG:
        said = simulate(*args, status=2)
        assert said.stdout == '' and said.stderr.startswith('regroup-simulate: '), said
        assert said.stderr.count('\n') == 1, said

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-bench create: exact messages, the result files, wrong options.

tier: all
time: 120
beside: yes
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

BENCH = os.path.join(os.environ.get('RGT_BUILD', 'build'), 'bin', 'regroup-bench')
MPIEXEC = os.environ.get('RGT_MPIEXEC', 'mpiexec.mpich').split()

# Messages per creation as published with the algorithm's reference measurements.
RECURSIVE = {2: 12, 4: 68, 8: 264}
NATIVE = {2: 3, 4: 11, 8: 31}
LIBRARY = ['recursive', 'native', 'auto']
CONTENDERS = LIBRARY + ['MPI_Comm_create_group', 'MPI_Comm_create', 'MPI_Comm_split',
                        'rg_group_create']
ROW_KEYS = {'size', 'contender', 'median', 'low', 'high', 'q1', 'q3', 'min', 'max', 'runs',
            'outliers', 'late', 'messages', 'messages_most'}
FACTS = {'command': 'create', 'members': 'block', 'seed': 1, 'with_free': False}

failures = []


def check(good, *what):
    if not good:
        failures.append(' '.join(str(w) for w in what))


def bench(np, *args, **env):
    done = subprocess.run(MPIEXEC + ['-n', str(np), BENCH, *args], capture_output=True, text=True, env=dict(os.environ, **env))
    return done.returncode, done.stdout, run_tests.without_banner(done.stderr)


def results(np, *args, **env):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'r.json')
        status, out, err = bench(np, 'create', '--reps', '3', '--json', path, *args, **env)
        check(status == 0 and not err, args, status, err)
        with open(path) as f:
            return json.load(f), out


def rows(result):
    return {(r['size'], r['contender']): r for r in result['results']}


def expected(contender, size, agreement):
    table = {'recursive': RECURSIVE, 'native': NATIVE, 'auto': NATIVE,
             'MPI_Comm_create_group': NATIVE}
    extra = 2 * (size - 1) if agreement and contender in LIBRARY else 0
    return table[contender][size] + extra if contender in table else 0


def test_messages():
    """Exact, with the library's agreement and without, wherever the members are."""
    names = ','.join(c for c in CONTENDERS if c not in ['MPI_Comm_create', 'MPI_Comm_split'])
    for agreement in ['1', '0']:
        for members in ['block', 'spread', 'random']:
            result, _ = results(8, '--contenders', names, '--members', members,
                                RG_CHECK=agreement, RG_COMM_METHOD='native')
            check(result['agreement'] == (agreement == '1'), 'agreement', result['agreement'])
            if result['results'][0]['messages'] is None:
                print('messages are not counted on this MPI')
                return
            for (size, name), row in rows(result).items():
                want = expected(name, size, agreement == '1')
                check(row['messages'] == row['messages_most'] == want, name, size, members,
                      'RG_CHECK=' + agreement, row['messages'], row['messages_most'], want)


def test_json():
    result, out = results(3)
    for key, value in FACTS.items():
        check(result.get(key) == value, key, result.get(key))
    check(result['ranks'] == 3, 'ranks', result['ranks'])
    found = rows(result)
    check(list(found) == [(g, c) for g in [2, 3] for c in CONTENDERS], list(found))
    for row in result['results']:
        check(set(row) == ROW_KEYS, sorted(row))
        order = [row[k] for k in ['min', 'q1', 'median', 'q3', 'max']]
        check(order == sorted(order) and order[0] > 0, order)
        check(row['min'] <= row['low'] <= row['median'] <= row['high'] <= row['max'], row)
        check(row['runs'] == 3, row['runs'])
        check(row['contender'] in out, row['contender'], 'is not in the table')
    check(found[(3, 'rg_group_create')]['messages'] in [0, None], 'forming a group sent messages')


def test_choices():
    result, out = results(4, '--sizes', '1,3', '--contenders', 'auto,MPI_Comm_split',
                          '--members', 'random', '--seed', '7', '--with-free')
    check(list(rows(result)) == [(g, c) for g in [1, 3] for c in ['auto', 'MPI_Comm_split']],
          list(rows(result)))
    check((result['members'], result['seed'], result['with_free']) == ('random', 7, True), result)
    check('freeing' in out, out)


def test_svg():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a 'b'.svg")
        status, _, err = bench(2, 'create', '--reps', '3', '--svg', path)
        if status and 'gnuplot-nox' in err:
            print('no gnuplot here')
        else:
            check(status == 0 and not err, 'svg', status, err)
            text = open(path).read()
            ET.fromstring(text)
            for name in CONTENDERS:
                check(name in text, name, 'is not in the picture')
            check('<script' not in text and 'href=\'http' not in text, 'not self-contained')
        empty = os.path.join(folder, 'empty')
        os.mkdir(empty)
        for tool in [MPIEXEC[0], 'hydra_pmi_proxy', 'sh']:
            for d in os.environ['PATH'].split(':'):
                if os.path.exists(os.path.join(d, tool)):
                    os.symlink(os.path.join(d, tool), os.path.join(empty, tool))
                    break
        status, _, err = bench(2, 'create', '--svg', os.path.join(folder, 'x.svg'), PATH=empty,
                               OMPI_MCA_plm_rsh_agent='sh')  # Open MPI starts nothing without one
        check(status == 2 and 'gnuplot-nox' in err and err.count('\n') == 1, 'no gnuplot', err)


def test_wrong():
    for args, word in [([], 'COMMAND'), (['foo'], 'create'), (['--foo'], '--foo'),
                       (['create', 'foo'], 'foo'), (['create', '--foo'], '--foo'),
                       (['create', '--reps', 'x'], 'x'), (['create', '--reps', '0'], '--reps'),
                       (['create', '--time-limit', '0'], '--time-limit'),
                       (['create', '--time-limit', 'nan'], '--time-limit'),
                       (['create', '--precision=-1'], '--precision'),
                       (['create', '--sizes', '2,9'], '--sizes'),
                       (['create', '--sizes', '0'], '--sizes'),
                       (['create', '--sizes', ''], '--sizes'),
                       (['create', '--sizes', '2,2'], '--sizes'),
                       (['create', '--contenders', 'native,foo'], 'foo'),
                       (['create', '--contenders', 'auto,auto'], 'twice'),
                       (['create', '--members', 'foo'], '--members')]:
        status, out, err = bench(2, *args)
        check(status == 2 and not out and err.count('\n') == 1 and word in err, args, status, err)
    status, _, err = bench(1, 'create')
    check(status == 2 and 'at least 2 ranks' in err, 'np = 1', status, err)
    status, _, err = bench(2, 'create', RG_CHECK='maybe')
    check(status == 2 and 'RG_CHECK' in err and err.count('\n') == 1, 'RG_CHECK', status, err)
    for option in ['--json', '--svg']:
        status, _, err = bench(2, 'create', option, '/nonexistent/x')
        check(status == 2 and err.count('\n') == 1, option, status, err)


def test_help():
    for args, words in [(['--help'], ['create', 'COMMAND']),
                        (['create', '--help'], ['--sizes', '--reps', 'regroup-bench create'])]:
        status, out, err = bench(2, *args)
        check(status == 0 and not err and all(w in out for w in words), args, status, out, err)
        check(out.count('Usage:') == 1, 'help is printed', out.count('Usage:'), 'times')


for name, test in [(n, t) for n, t in globals().items() if n.startswith('test_')]:
    before = len(failures)
    test()
    print('%-16s %s' % (name, 'ok' if len(failures) == before else 'FAILED'))
for line in failures:
    print(line)
sys.exit(1 if failures else 0)

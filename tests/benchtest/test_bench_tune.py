#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-bench tune and coll: the file of costs, what is predicted from it, the floor.

time: 240
beside: yes
"""
import os
import re
import tempfile

from bench import bench, check, main, near, refused, result

SHORT = ['--time-limit', '0.3', '--reps', '3']
COSTS = ['t_s', 't_w', 't_c']
HEAD = '# regroup tuning 1\n'


def read_tuning(path):
    lines = open(path).read().split('\n')
    check(lines[0] + '\n' == HEAD and lines[-1] == '', path, lines)
    return {k: float(v) for k, v in re.findall(r'^([a-z]+\.t_[swc]) = (\S+)$', '\n'.join(lines),
                                               re.M)}


def tune(np, folder, **env):
    path = os.path.join(folder, 'tuning')
    found, out = result(np, 'tune', *SHORT, '--output', path, **env)
    check(os.listdir(folder) == ['tuning'], os.listdir(folder))
    check('RG_TUNING=' in out, out)
    return found, read_tuning(path), path


def check_levels(found, values, measured):
    """The file has what the JSON file has, all of it makes sense, and each row is predicted."""
    fits = [f for f in found['levels'].values() if f]
    check(found['doubtful'] == any(f['within_two'] < 0.6 * f['measurements'] for f in fits), fits)
    for level in ['between', 'inside', 'shared']:
        fit = found['levels'][level]
        check((fit is not None) == (level in measured), level, fit)
        for cost in COSTS:
            name = level + '.' + cost
            check((name in values) == (level in measured), name, values)
            check(level not in measured or (0 < values[name] < 1 and near(values[name], fit[cost],
                                                                         1e-5)), name, fit)
        if fit:
            rows = [r for r in found['results'] if r['contender'].startswith(level + ' ')]
            check(len(rows) == fit['measurements'] > 40, level, len(rows), fit)
            check(1 <= fit['typical'] <= fit['worst'], fit)
            check(0 <= fit['within_two'] <= fit['measurements'], fit)
            for r in rows:
                check(r['predicted'] > 0 and near(r['over_predicted'], r['median'] / r['predicted'],
                                                  1e-5), r)


def test_tune():
    for np in [2, 3]:
        with tempfile.TemporaryDirectory() as folder:
            found, values, path = tune(np, folder)
            check_levels(found, values, ['inside', 'shared'])
            check(found['nodes'] == 1 and found['ranks'] == np, found['nodes'])
            status, _, err = bench(np, 'bcast', '--reps', '1', RG_TUNING=path)
            check(status == 0 and not err, 'the file is not read back:', err)


def test_tune_nodes():
    """Pretended nodes: two ranks on each, one rank on each."""
    for np, measured in [(4, ['between', 'inside', 'shared']), (2, ['between'])]:
        with tempfile.TemporaryDirectory() as folder:
            found, values, _ = tune(np, folder, MPIR_CVAR_NUM_CLIQUES='2')
            if found['nodes'] != 2:
                print('no pretended nodes with this MPI')
                return
            check_levels(found, values, measured)


def test_tune_wrong():
    refused(1, ['tune'], 'at least 2 ranks')
    refused(2, ['tune', '--svg', 'x.svg'], '--svg')
    refused(2, ['tune', 'word'], 'word')
    refused(2, ['tune'], 'RG_COLL=bcast=linear', RG_COLL='bcast=linear')
    status, out, err = bench(2, 'tune', '--output', '/nonexistent/tuning')
    check(status != 0 and not out and err.count('\n') == 1 and '/nonexistent' in err, status, err)
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(folder + '/pipe')
        status, out, err = bench(2, 'tune', '--output', folder + '/pipe')
        check(status != 0 and not out and 'no ordinary file' in err, status, err)


def with_tuning(text, call):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'tuning')
        with open(path, 'w') as f:
            f.write(text)
        return call(path)


def rows_of(found):
    return {(r['contender'], r['bytes']): r for r in found['results']}


def test_prediction():
    """By the formulas, with the file's values: 3 ranks, lg 3 = 2. Shared memory is chosen for few bytes."""
    text = HEAD + 'inside.t_s = 1e-3\ninside.t_w = 2e-6\nshared.t_s = 5e-4\nshared.t_w = 3e-6\n'
    found, out = with_tuning(text, lambda path: result(
        3, 'coll', '-o', 'bcast', '-a', 'binomial,linear', '--sizes', '8,5000', '--reps', '2',
        '--fresh', RG_TUNING=path))
    rows = rows_of(found)
    for n in [8, 5000]:
        shared = 2 * 5e-4 + 2 * n * 3e-6
        auto = rows['auto', n]['predicted']
        check(near(auto, shared) if n == 8 else auto < 2 * (1e-3 + n * 2e-6) < shared, rows['auto', n])
        for name in ['binomial', 'linear']:
            r = rows[name, n]
            check(near(r['predicted'], 2 * (1e-3 + n * 2e-6)), r)
            check(near(r['over_predicted'], r['median'] / r['predicted'], 1e-5), r)
        for name in ['MPI', 'fresh group']:
            check(rows[name, n]['predicted'] is rows[name, n]['over_predicted'] is None, name)
    check('/ model' in out, out)


def test_choice():
    """What is predicted for the automatic choice of scan follows the cheaper level."""
    for cheap, dear, per_byte in [('inside', 'shared', 1e-4), ('shared', 'inside', 1e-5)]:
        text = HEAD + '%s.t_s = %g\n%s.t_s = 0.5\n' % (cheap, per_byte, dear)
        found, _ = with_tuning(text, lambda path: result(
            2, 'coll', '-o', 'scan', '--sizes', '8', '--reps', '2', RG_TUNING=path))
        check(near(rows_of(found)['auto', 8]['predicted'], per_byte, 0.01), cheap, found['results'])


def test_refused_files():
    """One line with the file's; tests/runtime/test_tuning.c tries all that can be wrong."""
    for np in [1, 4]:
        for text, words in [('{}\n', 'line 1'),
                            (HEAD + 'inside.t_s = -1\n', 'line 2: "inside.t_s = -1"')]:
            with_tuning(text, lambda path: refused(np, ['coll'], words, RG_TUNING=path))
        refused(np, ['coll'], 'RG_TUNING=/nonexistent', RG_TUNING='/nonexistent')


def test_floor():
    """There where ranks outnumber processors, and only there."""
    cpus = sorted(os.sched_getaffinity(0))
    floors = ['floor, sleeping', 'floor, yielding']
    for operation in ['barrier', 'allreduce']:
        found, out = result(2, 'coll', '-o', operation, '--sizes', '8', '--reps', '3',
                            cpus=cpus[:1])
        rows = {r['contender']: r for r in found['results']}
        check(set(floors) <= set(rows) and '/ floor' in out, list(rows))
        floor = min(rows[f]['median'] for f in floors)
        for r in found['results']:
            check(near(r['floor'], floor, 1e-5) and
                  near(r['over_floor'], r['median'] / floor, 1e-5), r, floor)
    if len(cpus) > 1:
        found, out = result(2, 'scan', '--sizes', '8', '--reps', '3', cpus=cpus[:2])
        check(all(not r['contender'].startswith('floor') and 'floor' not in r
                  for r in found['results']) and 'floor' not in out, out)


main(globals())

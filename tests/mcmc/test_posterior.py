#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-mcmc --model: every moment of every posterior is known to 1 % and true; the draws
have the same bits on any number of ranks in groups of any size, under every policy.

time: 300
beside: yes
"""
import array
import os
import re
import tempfile
from xml.etree import ElementTree

from mcmc import result, start

MODELS = {'poisson': ['a%d' % k for k in range(1, 9)],
          'eight-schools': ['mu', 'tau'] + ['theta%d' % j for j in range(1, 9)],
          'regression': ['b%d' % k for k in range(5)] + ['s2']}
POLICIES = ['none', 'join-right', 'sync:i=2', 'most-work', 'release']
SHORT = ['--samples', 12, '--tune', 16, '--walkers', 5, '--thin', 3]
REFUSED = [['--model', 'nothing'], ['--sampler', 'gibbs'], ['--samples', '3'], ['--samples', '-1x'],
           ['--group', '0'], ['--policy', 'sideways'], ['--walkers', '0'], ['--thin', '0'], ['--tune', '7'],
           ['--tune', '-1'], ['--unit', '0'],
           ['--scale', '0'], ['--seed', '-1'], ['--draws', '/nowhere/x'], ['--plot', '/nowhere/x']]


def gate(model, sampler, np, *args):
    """One seed in a hundred misses by chance: the same one everywhere, unless a machine rounds
    logarithms in its own way."""
    for seed in [1, 2, 3]:
        try:
            return result(np, '--model', model, '--sampler', sampler, '--check', '--seed', seed,
                          *args, limit=300)
        except AssertionError as missed:
            if 'standard errors from the truth' not in str(missed) or seed == 3:
                raise


def check_gate(model, sampler, np, *args):
    """The program's own check, and the same again from its figures."""
    r = gate(model, sampler, np, *args)
    assert [q['name'] for q in r['quantities']] == MODELS[model], r['quantities']
    for q in r['quantities']:
        for moment in ['mean', 'sd']:
            e = q[moment]
            where = (model, sampler, q['name'], moment, e)
            assert e['ess'] >= 10000 and e['rhat'] <= 1.01, where
            assert abs(e['standard_errors_off']) <= 4, where
            assert abs(e['value'] - e['truth']) <= 4.2 * e['standard_error'], where
            assert e['standard_error'] <= 0.0101 * q['sd']['value'] or moment == 'sd', where
    assert r['passed'] and 0.1 < r['acceptance'] <= 1, r
    return r['checksum']


def check_bits(model, sampler, shapes):
    """Ranks, groups (some that do not divide the ranks) and steps in a unit."""
    seen = {result(np, '--model', model, '--sampler', sampler, '--group', group, '--unit', unit,
                   *SHORT)['checksum'] for np, group, unit in shapes}
    assert len(seen) == 1, (model, sampler, seen)
    seen |= {result(4, '--model', model, '--sampler', sampler, '--policy', policy, '--unit', 1,
                    *SHORT)['checksum'] for policy in POLICIES}
    assert len(seen) == 1, (model, sampler, seen)
    other = result(2, '--model', model, '--sampler', sampler, '--seed', 2, *SHORT)['checksum']
    assert other not in seen, (model, sampler)


def check_files():
    """The draws in both forms are those that the moments are of; the picture is one."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ['draws.csv', 'draws.bin', 'plot.svg']]
        options = ['--model', 'eight-schools', *SHORT]
        r = result(3, *options, '--draws', names[0], '--plot', names[2])
        result(2, *options, '--draws', names[1])
        with open(names[0]) as f:
            head, *rows = [line.split(',') for line in f.read().splitlines()]
        binary = array.array('d')
        with open(names[1], 'rb') as f:
            binary.frombytes(f.read())
        svg = ElementTree.parse(names[2]).getroot()
    assert head == ['chain', 'draw'] + MODELS['eight-schools'], head
    assert [(int(row[0]), int(row[1])) for row in rows] == [(c, i) for c in range(40)
                                                            for i in range(12)]
    assert [float(x) for row in rows for x in row[2:]] == list(binary)
    for column, q in enumerate(r['quantities']):
        x = [float(row[2 + column]) for row in rows]
        mean = sum(x) / len(x)
        assert abs(q['mean']['value'] - mean) < 1e-7 * (1 + abs(mean)), q
        variance = sum((a - mean) ** 2 for a in x) / len(x)
        assert abs(q['sd']['value'] - variance ** 0.5) < 1e-6 * variance ** 0.5, q
    text = ''.join(svg.itertext())
    assert svg.tag == '{http://www.w3.org/2000/svg}svg', svg.tag
    assert all(label in text for label in MODELS['eight-schools']), text


def check_words():
    done = start(2, '--model', 'poisson', '--help')
    assert done.returncode == 0 and done.stdout.count('Usage:') == 1, done
    assert '--sampler' in done.stdout and '--check' in done.stdout, done
    assert '--model' in start(1, '--help').stdout
    done = start(2, '--model=regression', *SHORT)
    assert done.returncode == 0 and done.stderr == '', done
    for word in ['regression', 'ESS', 'R-hat', 'truth', 'acceptance', 'checksum', 'b4', 's2']:
        assert word in done.stdout, (word, done.stdout)
    # So few draws do not pass; that is said of each moment.
    done = start(2, '--model', 'regression', '--check', '--quiet', *SHORT)
    assert done.returncode == 1 and done.stdout == '', done
    assert len(re.findall(r'mean of b0: the effective sample size is \d+, less', done.stderr)) == 1
    for args in REFUSED:
        done = start(2, *([] if args[0] == '--model' else ['--model', 'poisson']), *args)
        lines = [line for line in done.stderr.splitlines() if 'regroup-mcmc:' in line]
        assert done.returncode == 2 and done.stdout == '' and len(lines) == 1, (args, done)
        assert args[0].lstrip('-') in lines[0] or args[-1] in lines[0], (args, lines)


def check_no_gnuplot():
    """Said in one line; the rest of the result is there."""
    path = os.environ['PATH']
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + '/gnuplot', 'w') as f:
            f.write('#!/bin/sh\nexit 1\n')
        os.chmod(folder + '/gnuplot', 0o755)
        os.environ['PATH'] = folder + ':' + path
        done = start(1, '--model', 'regression', *SHORT, '--plot', folder + '/plot.svg')
    os.environ['PATH'] = path
    assert done.returncode == 1 and 'gnuplot could not draw' in done.stderr, done
    assert 'checksum' in done.stdout, done


for name in MODELS:
    check_bits(name, 'hmc', [(1, 1, 50), (2, 1, 3), (3, 3, 7), (4, 3, 1), (7, 2, 50), (16, 4, 5)])
    check_bits(name, 'metropolis', [(1, 1, 50), (2, 2, 3), (7, 5, 50)])
# The full gate; with groups of one, and with groups that share each evaluation.
assert check_gate('poisson', 'hmc', 2) == check_gate('poisson', 'hmc', 4, '--group', 2)
check_gate('eight-schools', 'hmc', 2)
check_gate('eight-schools', 'metropolis', 2)
check_gate('regression', 'hmc', 2, '--group', 2)
check_files()
check_words()
check_no_gnuplot()

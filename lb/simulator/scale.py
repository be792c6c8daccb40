#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Measured and simulated runs of the MCMC benchmark kernel in one figure: what can be measured on
this machine, and on to a million ranks. Where both are there they are compared.

What forming a group costs is measured by regroup-bench, unless a machine is given."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../examples/mcmc'))
from figure import Figure  # noqa: E402
from launch import output_folder, run, shown, table  # noqa: E402

POLICIES = ['none', 'sync:i=16', 'join-right', 'share-out']
FAR = [128, 512, 2048, 8192, 65536, 1048576]


def measure_machine(programs, folder):
    path = os.path.join(folder, 'machine.json')
    mpiexec = shutil.which('mpiexec.mpich') or shutil.which('mpiexec')
    command = [mpiexec, '-n', '16', programs + '/regroup-bench', 'create', '--contenders',
               'rg_group_create', '--time-limit', '5', '--quiet', '--json', path]
    print('forming groups: %s' % ' '.join(command), flush=True)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=120)
    if done.returncode:
        sys.exit('regroup-bench ended with status %d' % done.returncode)
    return path


def measure(programs, ranks, repeat, policies):
    """Seconds by policy. In turn, so that a busy moment does not fall on one policy alone."""
    seconds = {name: [] for name in policies}
    for turn in range(repeat):
        for name in policies:
            print('%d ranks, %s, %d of %d' % (ranks, name, turn + 1, repeat), flush=True)
            seconds[name].append(run(programs, ranks, '--policy', name)['seconds'])
    return seconds


def simulate(programs, machine, ranks, policies, folder):
    path = os.path.join(folder, 'simulated.json')
    command = [programs + '/regroup-simulate', '-q', '-m', machine, '-j', path, '-n',
               ','.join(map(str, ranks))]
    subprocess.run(command + ['--policy=' + name for name in policies], check=True)
    with open(path) as f:
        return {(r['policy'], r['ranks']): r for r in json.load(f)['results']}


def points_of(measured, simulated):
    points = []
    for (policy, ranks), r in simulated.items():
        seconds = measured.get(ranks, {}).get(policy)
        median = statistics.median(seconds) if seconds else None
        points.append({'policy': policy, 'ranks': ranks, 'simulated_seconds': r['seconds'],
                       'bound_seconds': r['bound_seconds'], 'measured_seconds': median,
                       'runs': seconds or []})
    return points


def differs(p):
    return p['simulated_seconds'] / p['measured_seconds'] - 1


def print_table(points):
    rows = [['policy', 'ranks', 'bound', 'simulated', 'measured', 'from', 'to', 'differs']]
    for p in points:
        row = [p['policy'], '%d' % p['ranks'], '%.3f' % p['bound_seconds'],
               '%.3f' % p['simulated_seconds']]
        if p['runs']:
            row += ['%.3f' % x for x in [p['measured_seconds'], min(p['runs']), max(p['runs'])]]
            row += ['%+.1f %%' % (100 * differs(p))]
        rows.append(row + [''] * (len(rows[0]) - len(row)))
    print('\nSeconds; differs: the simulation from the median measured\n' + table(rows))


def plot(points, path):
    colours = ['#0072b2', '#e69f00', '#d55e00', '#009e73']
    figure = Figure('MCMC benchmark kernel: measured (points) and simulated (lines)', 10)
    policies = list(dict.fromkeys(p['policy'] for p in points))
    for policy, colour in zip(policies, colours):
        own = [p for p in points if p['policy'] == policy]
        figure.add([(p['ranks'], p['simulated_seconds']) for p in own],
                   "with lines lw 2 lc rgb '%s'" % colour, policy)
        figure.add([(p['ranks'], p['measured_seconds']) for p in own if p['runs']],
                   "with points pt 7 ps 0.9 lc rgb '%s'" % colour)
    figure.add([(p['ranks'], p['bound_seconds']) for p in points if p['policy'] == policies[0]],
               "with lines dt 2 lw 2 lc rgb '#333333'", 'bound')
    figure.draw(path)


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('programs', nargs='?', default='build/bin', help='folder (build/bin)')
    parser.add_argument('--repeat', type=int, default=3, metavar='N',
                        help='how often each is run; default 3, about four minutes')
    parser.add_argument('--ranks', type=lambda s: [int(n) for n in s.split(',') if n],
                        default=[8, 16, 32, 64], metavar='P,P,...',
                        help="where to measure; default 8,16,32,64; '' for nowhere")
    parser.add_argument('--machine', help='as regroup-simulate has it, instead of measuring')
    parser.add_argument('--within', type=float, metavar='PERCENT',
                        help='end with status 1 if a simulation differs by more than this')
    return parser.parse_args()


def main():
    args = options()
    folder = output_folder('scale')
    policies = POLICIES
    machine = args.machine or measure_machine(args.programs, folder)
    measured = {n: measure(args.programs, n, args.repeat, policies) for n in args.ranks}
    ranks = sorted({8, 16, 32, 64, *args.ranks, *FAR})
    points = points_of(measured, simulate(args.programs, machine, ranks, policies, folder))
    print_table(points)
    with open(os.path.join(folder, 'scale.json'), 'w') as f:
        json.dump(points, f, indent=2)
    plot(points, os.path.join(folder, 'scale.svg'))
    print('Figure: %s; all results: %s' % tuple(shown(os.path.join(folder, 'scale.' + kind))
                                                for kind in ['svg', 'json']))
    worst = max((abs(differs(p)) for p in points if p['runs']), default=0)
    if args.within is not None and worst > args.within / 100:
        sys.exit('a simulation differs by %.1f %%' % (100 * worst))


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Runs an MPI program on several pretended nodes of this machine.

    run_on_nodes.py 2:4 -- build/bin/regroup-info
    run_on_nodes.py 4:2 -n 7 --placement cyclic -- PROGRAM ARGUMENTS
    run_on_nodes.py 2:4 --netns -- PROGRAM ARGUMENTS

docs/pretended-nodes.md says more."""
import argparse
import re
import signal
import sys

import cluster


def size(text):
    found = re.fullmatch(r'([1-9]\d*):([1-9]\d*)', text)
    if not found or int(found[1]) > cluster.MOST_NODES:
        raise argparse.ArgumentTypeError('NODES:RANKS is wanted, such as 2:4, not ' + text)
    return int(found[1]), int(found[2])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('size', type=size, metavar='NODES:RANKS',
                        help='how many nodes, and how many ranks at most on each')
    parser.add_argument('-n', type=int, metavar='RANKS', help='ranks in all (NODES x RANKS)')
    parser.add_argument('--placement', choices=['block', 'cyclic'], default='block',
                        help='fill one node after the other, or deal the ranks out in turn')
    parser.add_argument('--netns', action='store_true',
                        help='a network for each node, and at the end the bytes that crossed')
    parser.add_argument('program', metavar='-- PROGRAM')
    parser.add_argument('arguments', nargs=argparse.REMAINDER, metavar='ARGUMENTS')
    options = parser.parse_args()
    nodes, ranks = options.size
    options.n = nodes * ranks if options.n is None else options.n
    if not 1 <= options.n <= nodes * ranks:
        parser.error('-n %d: %d nodes with %d ranks each take 1 to %d' %
                     (options.n, nodes, ranks, nodes * ranks))
    return options


def run(options):
    count, ranks = options.size
    with cluster.Nodes(count, options.netns) as nodes:
        command = nodes.mpiexec(options.n, ranks, options.placement)
        command += [options.program] + options.arguments
        status, _ = nodes.run(command, stdout=None, stderr=None)
        if options.netns:
            for i, c in enumerate(nodes.counters()):
                print('node%d: %11d bytes sent, %11d received' % (i, c['sent'], c['received']),
                      file=sys.stderr)
    return status


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(run(arguments()))
    except cluster.Unavailable as why:
        print('run_on_nodes.py: %s' % why, file=sys.stderr)
        sys.exit(77)
    except KeyboardInterrupt:
        sys.exit(130)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What regroup-mcmc prints and writes, and what it refuses.

tier: quick
beside: yes
"""
import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree

from mcmc import result, start

KEYS = {'ranks', 'policy', 'interval', 'seconds', 'baseline_seconds', 'ideal_seconds',
        'efficiency', 'regroupings', 'walkers', 'samples', 'checksum', 'visits', 'visits_checksum'}
REFUSED = [['--balance', 'left'], ['--group', '0'], ['--group', '-4'], ['--interval', '0'],
           ['--samples', '-1'], ['--samples', '1e3'], ['--samples', '100000001'], ['--unit', '0'],
           ['--walkers', '-1'], ['--walkers', '3000000000'], ['--sample-time', '-1'],
           ['--sample-time', 'nan'], ['--time-scale', '0'], ['--time-scale', '-1'],
           ['--work', 'play'], ['--seed', '-1'], ['--seed', 'x'], ['--nonsense'], ['word'],
           ['--interval', '4', '--policy', 'sync:i=3'], ['--interval', '4', '--policy', 'share-out'],
           ['--json', '/nonexistent/x.json'], ['--trace', '/nonexistent/x.svg']]
FAST = ['--samples', 100, '--unit', 10]


def check_json():
    r = result(8, *FAST, '--balance', 'sync', '--interval', 3)
    assert KEYS <= set(r), KEYS - set(r)
    assert set(r['regroupings']) == {'mean', 'sd', 'min', 'max'}, r
    assert (r['ranks'], r['policy'], r['interval'], r['walkers']) == (8, 'sync', 3, 2), r
    assert re.fullmatch('[0-9a-f]{16}', r['checksum']), r
    # One interval, whichever option gives it.
    for args in [['--policy', 'sync', '-i', 5], ['--policy', 'sync:i=5']]:
        assert result(8, *FAST, *args)['interval'] == 5, args
    assert result(8, *FAST, '--policy', 'share-out')['interval'] == 0
    # Without work there is nothing to lose.
    r = result(2, '--samples', 0)
    assert r['samples'] == 0 and r['efficiency'] == 1 and r['ideal_seconds'] == 0, r


def check_refused():
    for args in REFUSED:
        done = start(2, *args)
        assert done.returncode == 2, (args, done)
        lines = [line for line in done.stderr.splitlines() if 'regroup-mcmc:' in line]
        assert len(lines) == 1 and done.stdout == '', (args, done)
        assert args[0].lstrip('-') in lines[0] or args[-1] in lines[0], (args, lines)


def check_impossible():
    """Work that there is not, and bounds that cannot be met."""
    done = start(2, '--samples', 0)
    assert done.returncode == 0 and 'no walker has any work' in done.stdout, done
    assert 'efficiency' not in done.stdout, done.stdout
    done = start(2, *FAST, '-t', 0, '--group', 1)
    assert done.returncode == 0 and 'take no time' in done.stdout, done
    for args in [['--pattern', 'published', '-g', 2, '--bound', 3],
                 ['--pattern', 'huge', '--bound', 1e-6]]:
        done = start(2, *args)
        assert done.returncode == 2 and done.stderr.count('regroup-mcmc: ') == 1, (args, done)


def check_words():
    done = start(2, '--help')
    assert done.returncode == 0 and done.stdout.count('Usage:') == 1, done
    for option in ['--balance', '--trace', '--time-scale', '--walkers']:
        assert option in done.stdout, option
    done = start(2, '--version')
    assert done.returncode == 0 and re.fullmatch(r'regroup-mcmc \d+\.\d+\.\d+\n', done.stdout), done
    done = start(8, *FAST)
    assert done.returncode == 0 and done.stderr == '', done
    for word in ['time', 'without balancing', 'ideal', 'efficiency', 'regroupings', 'checksum']:
        assert word in done.stdout, (word, done.stdout)
    done = start(8, *FAST, '--progress', '--quiet')
    assert done.returncode == 0 and done.stdout == done.stderr == '', done
    done = start(8, *FAST, '--progress', '--sample-time', 10000)
    # Open MPI 5.0's launcher writes a line of standard error that has no end to standard output.
    said = done.stderr + done.stdout * ('openmpi' in os.environ.get('RGT_MPIEXEC', ''))
    assert done.returncode == 0 and re.search(r' \d+ %.* left', said), done


def check_picture(np, *args):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, 'trace.svg')
        result(np, *FAST, '--trace', name, *args)
        with open(name) as f:
            text = f.read()
    root = ElementTree.fromstring(text)
    assert root.tag == '{http://www.w3.org/2000/svg}svg', root.tag
    assert not re.search(r'href|<script|<image|@import', text)
    rows = set(re.findall(r'<title>rank (\d+) works', text))
    # On a busy machine what a rank did may be too short to be seen in the whole.
    assert rows and rows <= {str(r) for r in range(np)}, rows
    assert 'walker 4' in text and 'idle' in text and 'ideal' in text


check_json()
check_refused()
check_impossible()
check_words()
check_picture(8, '--balance', 'async')
check_picture(7, '--balance', 'sync', '--interval', 1)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Command lines, RG_MPI and files of machines that are drawn at random.

Each program ends by itself, not by a signal, and says what was wrong if something was. A few seconds in
the suite; longer by hand: FUZZ_SECONDS=600 RGT_SEED=1 RGT_BUILD=build/release
tests/fuzz/test_commands.py. What failed is printed with its seed.

time: 240
"""
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

BUILD = os.path.abspath(os.environ['RGT_BUILD'])
SEED = int(os.environ.get('RGT_SEED', '1'))
SECONDS = float(os.environ.get('FUZZ_SECONDS', '4' if run_tests.FULL else '1'))  # of each part
SANITIZED = 'asan' in BUILD or 'tsan' in BUILD
BASE_XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3"
 nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
 complete_nodeset="0x1" gp_index="9" local_memory="1073741824"/>
<object type="Package" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
 complete_nodeset="0x1" gp_index="2">
<object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
 complete_nodeset="0x1" gp_index="3">
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
 complete_nodeset="0x1" gp_index="4"/></object>
<object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
 complete_nodeset="0x1" gp_index="5">
<object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
 complete_nodeset="0x1" gp_index="6"/></object>
</object></object></topology>
"""
NUMBERS = ['0', '1', '-1', '2', '7', '64', '1e3', '0.5', '1e-300', '1e300', 'nan', 'inf', '-inf',
           '2147483647', '2147483648', '-2147483648', '4294967296', '9223372036854775807',
           '9223372036854775808', '99999999999999999999999', '', ' 3', '3 ', '0x10', '3x', '1,2', ',',
           '1,,2', '1-3', '3-1', '%s%n', 'é', '-', '--', '=', 'a' * 5000]
POLICIES = ['none', 'sync', 'join-right', 'share-out', 'sync:i=', 'sync:', 'share-out:cost=',
            'share-out:cost=0', 'sync:i=3,i=', 'nonsense', ':', 'join-right:x=1']
PATTERNS = ['published', 'ascending', 'descending', 'random:', 'huge', 'heavy-tail:', 'queue:', 'x']
SIMULATE = {'--ranks': NUMBERS, '--policy': POLICIES, '--pattern': PATTERNS, '--bound': NUMBERS,
            '--group': NUMBERS, '--unit': NUMBERS, '--machine': ['published', 'free', '/dev/null', 'x'],
            '--merge-cost': NUMBERS, '--latency': NUMBERS, '--startup': NUMBERS, '--steps': NUMBERS,
            '--polls': NUMBERS, '--jitter': NUMBERS, '--serial': NUMBERS, '--view': NUMBERS,
            '--seed': NUMBERS, '--json': ['/dev/null', '/nonexistent/x', ''], '--idle-join': None,
            '--quiet': None, '--no-such': NUMBERS}
RUN = {'--restart': [None, '', '=0', '=1', '=-1', '=2147483648', '=x', '=1x', '= 1'],
       '--stopped': ['', '=0', '=1', '=-1', '=1e300', '=nan', '=x', '=' + '9' * 400], '--requeue': [None],
       '-n': [None], '2': [None], '-h': [None], '--': [None], '-': [None], '-genv': [None],
       '-hosts': [None], 'a,b': [None], '--no-such': [None, '=x'], '': [None], 'true': [None]}
TOPO = {'--ranks': NUMBERS, '--nodes': NUMBERS, '--filter': ['network', 'memory', 'all', 'x', ',', ''],
        '--bind': ['compact', 'scatter', 'none', '0,1;none', '0-1;1', ';', '1-0', '99999999999', '-1',
                   '0-2147483647', ''],
        '--svg': ['/dev/null', '/nonexistent/x'], '--json': ['/dev/null']}
MACHINES = ['pack:2 l3:1 core:4 pu:1', 'pack:2', 'pu:0', 'pu:-1', 'pack:4096 pu:4096', '', ':', 'pack:2 [numa',
            'core:1 pu:99999999999', '[numa] pu:2', 'l9:2 pu:1']
WORDS = ['all', 'none', 'bcast', 'allreduce', 'rma', 'comm', 'barrier', 'x', '', ' ', '-', '--', '-all',
         '-bcast', '-none', 'ALL', 'bcast ', 'b' * 3000, 'é', '%s', 'all,', ',']
here = tempfile.mkdtemp()


def limit():
    """A program that asks for more gets an error; the address sanitizer needs all there is."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def check(what, args, slow=False, **environment):
    """slow: a right command line may take long; only how it ends is looked at."""
    # popt does not free the argument of an option that is given twice.
    env = dict(os.environ, RG_LOG='error', ASAN_OPTIONS='detect_leaks=0', **environment)
    try:
        done = subprocess.run(args, capture_output=True, env=env, cwd=here, timeout=10 if slow else run_tests.limit(60),
                              preexec_fn=limit)
    except subprocess.TimeoutExpired:
        assert slow, ('does not end', what, args, environment)
        return
    err = done.stderr.decode(errors='replace')
    said = (what, args, environment, done.returncode, err[-2000:])
    if done.returncode < 0 and '(hwloc_topology_load' in err:
        return  # hwloc's own: it does not survive each damaged file
    assert done.returncode >= 0, said
    assert 'Sanitizer' not in err and 'runtime error' not in err, said
    assert done.returncode == 0 or (err + done.stdout.decode(errors='replace')).strip(), said


def draw_options(r, options, join):
    """join: what stands between an option and its value."""
    args = []
    for _ in range(r.randrange(5)):
        name = r.choice(list(options))
        values = options[name]
        value = r.choice(values) if values else None
        if value is not None and value.endswith((':', '=')) and r.random() < .7:
            value += r.choice(NUMBERS)
        args.append(name if value is None else name + join + value)
    return args


def simulate(r):
    check('simulate', [BUILD + '/bin/regroup-simulate', *draw_options(r, SIMULATE, '=')], slow=True)


def start(r):
    check('run', [BUILD + '/bin/regroup-run', *draw_options(r, RUN, '')],
          RG_MPIEXEC=r.choice(['/bin/echo', '/bin/true', 'sh -c true', '/nonexistent/x', ' ']))


def mutate(r, text):
    for _ in range(r.randrange(4)):
        kind, at = r.randrange(5), r.randrange(len(text))
        if kind == 0:
            text = text[:at]
        elif kind == 1:
            text = text[:at] + chr(r.randrange(1, 256)) + text[at + 1:]
        elif kind == 2:
            end = r.randrange(at, min(len(text), at + 200))
            text = text[:end] + text[at:]
        elif kind == 3:
            found = list(re.finditer(r'"[^"]*"', text))
            if found:
                one = r.choice(found)
                text = text[:one.start() + 1] + r.choice(NUMBERS[:20]) + text[one.end() - 1:]
        else:
            text = text.replace(*r.choice([('Core', 'PU'), ('Package', 'Group'), ('0x3', '0x0'),
                                           ('0x1', '0xf...f'), ('NUMANode', 'Bridge')]), 1)
        if not text:
            break
    return text


def topology(r):
    machine = r.choice(MACHINES)
    if r.random() < .7:
        machine = here + '/machine.xml'
        with open(machine, 'w', encoding='utf-8') as f:
            f.write(mutate(r, BASE_XML))
    check('topo', [BUILD + '/bin/regroup-topo', '--machine=' + machine, *draw_options(r, TOPO, '=')],
          slow=True)


def words(r):
    text = ','.join(r.choice(WORDS) for _ in range(r.randrange(5)))
    check('RG_MPI', [BUILD + '/tests/plain_errors'], slow=True, RG_MPI=text, LD_PRELOAD=PRELOAD)


# A sanitizer's library comes before all others.
RUNTIME = next((subprocess.run(['gcc', '-print-file-name=lib%s.so' % name], capture_output=True,
                               text=True).stdout.strip() + ' ' for name in ('asan', 'tsan')
                if name in BUILD), '')
PRELOAD = RUNTIME + BUILD + '/lib/libregroup-mpi.so'
PARTS = [simulate, start, topology, words]
for part in PARTS:
    begin, number = time.monotonic(), 0
    while time.monotonic() - begin < SECONDS:
        seed = '%d %s %d' % (SEED, part.__name__, number)
        try:
            part(random.Random(seed))
        except AssertionError:
            print('failed with the seed', seed)
            raise
        number += 1
    print(part.__name__, number, 'command lines')
for name in os.listdir(here):
    os.remove(os.path.join(here, name))
os.rmdir(here)

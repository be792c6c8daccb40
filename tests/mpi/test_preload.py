#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""libregroup-mpi.so: programs that know nothing of it print the same with and without it, its
report tells exactly what they called, and programs that use the library themselves still work.

time: 300
beside: yes
"""
import functools
import glob
import os
import re
import subprocess

from preload import BUILD, LIBRARY, OPENMPI, POLITE, SEED, counted, report, run, run_tests, skip_sanitized, under

skip_sanitized('asan')
RANKS = [1, 2, 3, 4, 7] if run_tests.FULL else [1, 3]


def arguments(program, choice):
    """What MPI's own creation of groups needs (plain_groups.c); a seed (plain_windows.c, plain_window_types.c)."""
    served = choice == 'all' or 'comm_create_group' in choice.split(',')
    if program.endswith('plain_windows'):
        return (SEED,)
    if program.endswith('plain_window_types'):
        return (SEED, '300')
    return ('tag',) if OPENMPI and program.endswith('plain_groups') and not served else ()


@functools.lru_cache(None)
def alone(program, np):
    """What it prints when MPI serves all."""
    return run(np, under(POLITE, program, *arguments(program, 'none')))[0]


def preloaded(program, np, arguments=(), **more):
    return run(np, under(LIBRARY, program, *arguments, LD_BIND_NOW='1', **more))


def check_symbols():
    text = subprocess.run(['nm', '-D', LIBRARY], check=True, capture_output=True, text=True).stdout
    assert not re.search('armci', text, re.I), text
    undefined = re.findall(r'^ +U (\S+)$', text, re.M)
    assert undefined and not [s for s in undefined if re.match(r'MPI_(?!UNWEIGHTED$)|rgi?_', s)], undefined


def comparable(text):
    """Without what MPICH 4.0 does not do, although MPI wants it (9.3: inherited)."""
    return re.sub(r'^handler inherited .*\n', '', text, flags=re.M)


def is_chosen(operation, choice):
    words = choice.split(',')
    return (operation in words or 'all' in words) and '-' + operation not in words


def check_program(name, np, choice):
    """Same output; the report says what the program says, by the choice."""
    program = 'tests/' + name
    plain = alone(program, np)
    text, said = preloaded(program, np, arguments=arguments(program, choice), RG_MPI=choice,
                           RG_MPI_REPORT='1')
    assert comparable(text) == comparable(plain), '%s with %d processes, RG_MPI=%s:\n%s\n--- instead of\n%s' % (
        name, np, choice, text, plain)
    told, calls = report(said), counted(plain)
    refused = calls.pop('refused', calls.pop('passed', (0, 0)))[0]
    assert not calls or set(told) == set(calls), (told, calls)
    for operation, (one, two) in calls.items():
        more = refused if operation in ('comm_create_group', 'rma') else 0
        chosen = is_chosen(operation, choice)
        want = [one, 0, two, more] if chosen else [0, one + two + more, 0, 0]
        if chosen and operation == 'comm_create_group':
            assert re.search(r'^handler inherited( 1){%d}$' % np, text, re.M), text
        assert told[operation] == want, (name, np, choice, operation, told, want)


def check_all_programs():
    # Open MPI can make no window on one process (4.1.4: MPI_ERR_WIN).
    for np in RANKS:
        for name in ['plain_collectives', 'plain_errors', 'plain_groups', 'plain_threads',
                     'plain_progress']:
            if not OPENMPI or (name, np) != ('plain_progress', 1):
                check_program(name, np, 'all')
    for choice in ['none', 'barrier,bcast,allreduce', 'alltoallv,reduce_scatter_block']:
        check_program('plain_collectives', 3, choice)
    check_program('plain_groups', 4, 'comm_create_group')
    check_program('plain_groups', 4, 'allreduce')


def check_windows():
    if OPENMPI:  # its windows are its own
        return
    print('seed', SEED)
    for np in RANKS:
        check_program('plain_windows', np, 'all')
        check_program('plain_window_large', np, 'all')
        preloaded('tests/plain_window_random', np, arguments=(SEED, '10'))
        preloaded('tests/plain_window_passive', np, arguments=('all',))
    for np in [1, 2]:
        check_program('plain_window_errors', np, 'all')
        check_program('plain_window_threads', np, 'all')
        check_program('plain_window_types', np, 'all')
    for choice in ['all,-rma', 'rma']:
        check_program('plain_windows', 2, choice)
    for program in ['plain_errors', 'plain_window_errors', 'plain_window_large']:
        check_program(program, 2, 'all,-rma')
    for more, served in [(('10000',), 3 * 10000 + 1), (('1300', '4096'), None)]:
        # The second time the arena is full: some windows are MPI's.
        text, told = preloaded('tests/plain_window_errors', 2, arguments=more,
                               RG_ARENA_SIZE='0' if served else '1', RG_MPI_REPORT='1')
        said = re.findall(r'^(beyond|operation|kept|many) (\d+) (\d+)$', text, re.M)
        assert [row[0] for row in said] == ['beyond'] * 4 + ['operation', 'kept', 'many'], text
        assert all(row[1:] == (('0', '0') if row[0] == 'many' else ('1', '1')) for row in said), text
        windows = report(told)['rma']
        if served:
            assert windows == [2 * served, 0, 0, 0], windows
        else:
            assert windows[0] and windows[3] and sum(windows) == 2 * (3 * 1300 + 1), windows
    # Windows one after another: an arena that would not have room for what each of them might leave.
    text, told = preloaded('tests/plain_window_many', 3, arguments=('1000',), RG_ARENA_SIZE='1',
                           RG_MPI_REPORT='1')
    assert text == 3 * 'wrong 0 0 0\n' and report(told)['rma'] == [3 * 3000, 0, 0, 0], (text, told)
    # In a full arena they are MPI's, and right: MPICH 4.0 alone misplaces odd sizes.
    text, told = preloaded('tests/plain_window_many', 3, arguments=('50', 'full'), RG_ARENA_SIZE='1',
                           RG_MPI_REPORT='1')
    assert text == 3 * 'wrong 0 0 0\n' and report(told)['rma'] == [0, 0, 0, 3 * 150], (text, told)


def check_turns():
    """The owner of a lock that asks again comes last, in most rounds."""
    if OPENMPI:
        return
    for np in [2, 4]:
        text, _ = preloaded('tests/plain_window_turns', np, arguments=('40', '500'))
        last, quota = re.fullmatch(r'last (.*)\nquota (.*)\n', text).groups()
        assert sum(int(n) for n in last.split()) > 20 and quota == ' '.join(np * '1'), text


def check_silent():
    """Without the switch it says nothing."""
    _, said = preloaded('tests/plain_groups', 2)
    assert said == '', said


def check_wrong_options():
    np = 1  # of two that end at once, mpiexec 4.2 sometimes ends with status 0
    if OPENMPI:  # its launcher loses the words of a fatal error now and then (4.1.4)
        np, os.environ['OMPI_MCA_ess_singleton_isolated'] = 0, '1'
    for more, word in [({'RG_MPI': 'bcast,nonsense'}, 'nonsense'), ({'RG_MPI': ','}, 'expected'),
                       ({'RG_WAIT': 'hastily'}, 'hastily'), ({'RG_COLL': 'bcast=around'}, 'binomial'),
                       ({'RG_BIND': 'sideways'}, 'scatter'), ({'RG_TOPOLOGY': 'none'}, 'pack:2')]:
        _, said = run(np, under(LIBRARY, 'tests/plain_groups', **more), fails=True)
        assert said.startswith('regroup: RG_') and said.count('RG_') == 1 and word in said, said
    os.environ.pop('OMPI_MCA_ess_singleton_isolated', None)


def check_wrong_polite():
    """libregroup-polite.so has no error to return: a line of the first process, and the default."""
    if not OPENMPI:
        _, said = run(2, under(POLITE, 'tests/plain_groups', RG_WAIT='hastily', RG_POLITE='0'))
        assert said == ('regroup: RG_WAIT=hastily (from environment): expected auto|spin|yield|sleep; '
                        'auto is used\n'), said


def check_own_programs():
    """Programs that use the library, linked with it in either way."""
    for program in ['tests/test_coll_moving', 'tests/test_comm_create_group', 'tests/test_runtime',
                    'tests/test_group']:
        preloaded(program, 3)
    for program in sorted(glob.glob(BUILD + '/bin/example-*'))[::1 if run_tests.FULL else 5]:
        text, said = preloaded(program, 2)
        assert text and not said, (program, text, said)


def check_arrays():
    """The window that a program's arrays make by ARMCI between nodes is not served once more."""
    if OPENMPI:
        return
    for nodes, windows in [('1', None), ('2', [0, 0, 4, 0])]:
        _, told = preloaded('bin/example-array', 4, MPIR_CVAR_NUM_CLIQUES=nodes, RG_MPI_REPORT='1')
        assert report(told)['allreduce'][0] and report(told).get('rma') == windows, (nodes, told)


check_symbols()
check_all_programs()
check_windows()
check_turns()
check_silent()
check_wrong_options()
check_wrong_polite()
check_own_programs()
check_arrays()

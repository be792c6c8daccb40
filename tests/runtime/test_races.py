#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""ThreadSanitizer finds no race in what threads may do at the same time. The short form: the rooms
below the collectives are built for it, and linked with the library for the rest, as are the loops
that combine elements for the collectives: the sanitizer would see what they read, and not that the
collectives have waited for it. BUILD=tsan builds everything.

tier: all
time: 240
"""
import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile

BUILD, MPIEXEC = os.environ['RGT_BUILD'], os.environ['RGT_MPIEXEC'].split()
MPICC = 'mpicc.mpich'
FLAGS = ['-std=c11', '-g', '-O1', '-pthread', '-fPIC', '-D_GNU_SOURCE', '-w', '-fsanitize=thread',
         '-Iinclude', '-Ipgroup', '-Iarrays', '-Ilb', '-Itests/check', '-I.']
ROOMS = ['base', 'shm', 'progress', 'access', 'runtime', 'message', 'formation']
PROGRAMS = {'runtime/test_threads.c': '2', 'formation/test_p2p.c': '2', 'runtime/test_element.c': '1'}
# As tests/run_tests.py sets them for BUILD=tsan.
SANITIZER = dict(HWLOC_PLUGINS_PATH='/nonexistent', UCX_MEM_EVENTS='no',
                 UCX_MEM_MMAP_HOOK_MODE='none',
                 TSAN_OPTIONS='die_after_fork=0:ignore_noninstrumented_modules=1:exitcode=66'
                 ':print_suppressions=0:suppressions=' + os.path.abspath('tests/harness/races.supp'))
RACE = r'''
#include <pthread.h>
static int shared;
static void *add(void *unused) { shared++; return unused; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, add, 0);
  shared++;
  pthread_join(t, 0);
  return 0;
}
'''


def skip(why):
    print(why)
    sys.exit(77)


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', env=dict(os.environ, **SANITIZER), **more)


def find_prefix(folder):
    """What a command needs before it, so that the sanitizer runs and sees a race."""
    source, program = os.path.join(folder, 'race.c'), os.path.join(folder, 'race')
    with open(source, 'w') as f:
        f.write(RACE)
    if run(['gcc', '-fsanitize=thread', '-pthread', source, '-o', program]).returncode:
        skip('gcc has no ThreadSanitizer here')
    for prefix in [[], ['setarch', '-R']]:
        if run(prefix + [program]).returncode == 66:
            return prefix
    skip('ThreadSanitizer does not run here')


def compile_all(folder, sources):
    def one(source):
        out = os.path.join(folder, source.replace('/', '_')[:-2] + '.o')
        done = run([MPICC, *FLAGS, '-c', source, '-o', out])
        if done.returncode:
            sys.exit(done.stdout)
        return out

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, sources))


def check(folder, prefix, objects, source, ranks):
    program = os.path.join(folder, os.path.basename(source)[:-2])
    done = run([MPICC, *FLAGS, 'tests/' + source, *objects, '-o', program,
                BUILD + '/obj/librgcheck.a', BUILD + '/lib/libregroup.a', '-lcunit', '-lhwloc',
                '-lsodium', '-ldl', '-lm'])
    if done.returncode:
        sys.exit(done.stdout)
    done = run([*prefix, *MPIEXEC, '-n', ranks, program])
    good = done.returncode == 0 and 'ThreadSanitizer' not in done.stdout
    return '' if good else '%s: status %d\n%s' % (source, done.returncode, done.stdout[-8000:])


if 'san' in os.path.basename(BUILD) or 'mpich' not in MPIEXEC[0]:
    skip('for MPICH, and a library that is not built for a sanitizer')
with tempfile.TemporaryDirectory() as work:
    prefix = find_prefix(work)
    objects = compile_all(work, [f for room in ROOMS for f in sorted(glob.glob('pgroup/%s/*.c' % room))
                                 if not f.startswith('pgroup/access/kernel')])
    wrong = [check(work, prefix, objects, *program) for program in PROGRAMS.items()]
print('\n'.join(filter(None, wrong)))
sys.exit(1 if any(wrong) else 0)

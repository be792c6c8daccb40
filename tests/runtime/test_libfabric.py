#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Polite waiting over libfabric, with a library in libfabric's place: each poll in vain of the
outermost queue yields where there are more ranks than processors, and never sleeps.

beside: yes
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import run_tests  # noqa: E402

BUILD = os.path.abspath(os.environ['RGT_BUILD'])
POLLS, FREE = 1000, 4  # FREE: without a pause, pgroup/mpich/polite.c
if 'san' in os.path.basename(BUILD):
    print('a library with a sanitizer cannot be preloaded')
    sys.exit(77)
if 'openmpi' in os.environ.get('RGT_MPIEXEC', ''):
    print("polite waiting over libfabric is for MPICH, and Open MPI 5.0 needs more of libfabric's names")
    sys.exit(77)
if 'ch4:ofi' in run_tests.launcher_text():
    print("this MPI is linked with libfabric itself, and needs more of its names than the test's library has")
    sys.exit(77)
# What pgroup/mpich/polite_ofi.c and libfabric.c take from libfabric's binary interface.
LAYOUT = '''#if __has_include(<rdma/fi_eq.h>)
#include <stddef.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#define AT(type, member, words) \\
  _Static_assert(offsetof(struct type, member) == (words) * sizeof(void *), #type)
AT(fid_fabric, ops, 3);
AT(fid_domain, ops, 3);
AT(fid_cq, ops, 3);
AT(fi_ops_fabric, domain, 1);
AT(fi_ops_domain, cq_open, 2);
AT(fi_ops_cq, read, 1);
_Static_assert(FI_EAGAIN == 11, "nothing read");
#endif
'''


def call(*command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)
    assert done.returncode == 0, '%s\n%s' % (command, done.stdout)
    return done.stdout


def make(work):
    with open(work + '/versions', 'w') as f:
        f.write('FABRIC_1.1 { global: fi_fabric; local: *; };\n')
    source = 'tests/runtime/libfabric.c'
    call('gcc', '-DPROVIDER', '-shared', '-fPIC', source, '-o', work + '/libfabric.so.1',
         '-Wl,--version-script=%s/versions,-soname,libfabric.so.1' % work)
    call('gcc', '-DPOLLER', '-shared', '-fPIC', source, '-o', work + '/libpoller.so',
         work + '/libfabric.so.1')
    # As docs/building.md has it; the poller asks for the rest.
    names = ['fi_fabric', 'ucp_worker_progress', 'rg_polite_active', 'rg_polite_counts']
    export = ['-Wl,--export-dynamic-symbol=' + name for name in names]
    for name, first in [('alone', []),
                        ('static', ['-Wl,--no-as-needed,-u,rg_polite_active,-u,fi_fabric', *export,
                                    BUILD + '/lib/libregroup-polite.a'])]:
        call('mpicc.mpich' if first else 'gcc', source, '-o', '%s/%s' % (work, name), *first,
             work + '/libpoller.so', work + '/libfabric.so.1', '-ldl', '-pthread')
    call('gcc', '-fsyntax-only', '-x', 'c', '-', input=LAYOUT)


def count(work, program, preload='', **env):
    said = call('%s/%s' % (work, program), str(POLLS),
                env=dict(os.environ, LD_LIBRARY_PATH=work, LD_PRELOAD=preload, **env))
    return [int(n) for n in re.findall(r'-?\d+', said)]


def main(work):
    make(work)
    ways = [('static', '')] + [('alone', '%s/lib/lib%s.so' % (BUILD, name))
                               for name in ['regroup-polite', 'regroup', 'regroup-mpi']]
    for way in ways:
        crowded = count(work, *way, RG_OVERSUBSCRIBED='yes')
        assert crowded == [1, POLLS, POLLS - FREE, 0, 1], (way, crowded)
        roomy = count(work, *way, RG_OVERSUBSCRIBED='no')
        assert roomy == [1, POLLS, 0, 0, 1], (way, roomy)
        off = count(work, *way, RG_POLITE='0')
        assert off == [1, 0, 0, 0, 0], (way, off)


with tempfile.TemporaryDirectory() as folder:
    main(folder)

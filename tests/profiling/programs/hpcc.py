# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""HPC Challenge, built with MPICH from Debian's source package (Debian's binary is for Open MPI)."""
import os
import re
import subprocess
import tempfile

import jobs
import packages

ORDER = 400  # of the matrix; the tests' memory goes with it
MAKEFILE = '''SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir
RM = /bin/rm -f
TOUCH = touch
ARCH = $(arch)
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) -lopenblas -lm
HPL_DEFS = -DHPL_CALL_CBLAS $(HPL_INCLUDES)
CC = mpicc.mpich
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -w -O2 -fcommon
LINKER = mpicc.mpich
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
'''


def build(store):
    """The program's path."""
    top = store.source('hpcc')
    if not os.path.exists(top + '/hpcc'):
        with open(top + '/hpl/Make.mpich', 'w') as f:
            f.write(MAKEFILE)
        done = subprocess.run(['make', 'arch=mpich'], cwd=top, capture_output=True, text=True)
        if not os.path.exists(top + '/hpcc'):
            raise packages.Missing('hpcc is not built: ' + done.stderr[-300:])
    return top + '/hpcc'


def grid(np):
    rows = max(p for p in range(1, np + 1) if np % p == 0 and p * p <= np)
    return rows, np // rows


def put_input(sample, folder, np):
    """The sample input of the authors, for this number of processes."""
    with open(sample) as f:
        text = f.read()
    for value, word in [(ORDER, 'Ns'), (grid(np)[0], 'Ps'), (grid(np)[1], 'Qs')]:
        text = re.sub(r'^\S+( +%s)$' % word, r'%d\1' % value, text, flags=re.M)
    with open(folder + '/hpccinf.txt', 'w') as f:
        f.write(text)


def run(program, np, way, limit, runner):
    """In words, what came of it (empty: right), and the job."""
    with tempfile.TemporaryDirectory() as folder:
        put_input(os.path.dirname(program) + '/_hpccinf.txt', folder, np)
        job = runner.run(np, [program], way, folder, {'OPENBLAS_NUM_THREADS': '1'}, limit)
        try:
            with open(folder + '/hpccoutf.txt') as f:
                job.text += f.read()
        except OSError:
            pass
    failed = [int(n) for n in re.findall(r'(\d+) tests completed and failed', job.text)]
    failed += [int(n) for n in re.findall(r'^\w*[Ff]ailures?=(\d+)$', job.text, re.M)]
    if any(failed):
        return 'failed residual checks', job
    good = re.search(r'^Success=1$', job.text, re.M)
    return job.ended or ('' if good else 'no success'), job


def check(store, runner, a):
    program = build(store)
    print('HPC Challenge %s\n' % store.version('hpcc.source'))
    return jobs.compare('hpcc', [program], a, a.np or [4, 6, 8], a.limit,
                        lambda program, np, way, limit: run(program, np, way, limit, runner))

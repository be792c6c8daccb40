# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Coarray Fortran over Debian's OpenCoarrays for MPICH: programs written for it here, each with a
check in closed form, and OpenCoarrays' own tests, which the package brings ready to run."""
import glob
import os
import re
import shutil
import subprocess

import jobs
import packages

HERE = os.path.dirname(os.path.abspath(__file__)) + '/coarrays/'
# Of the package's tests: those that end an image on purpose have no result to check.
ENDS_IMAGES = re.compile(r'image_fail|image_status|abort_on_stopped|mpi-crashing')
RIGHT = re.compile(r'^ *(right|test passed)\b', re.I | re.M)


class Coarrays:
    def __init__(self, store, runner):
        store.packages('libcoarrays-dev', 'libcoarrays-mpich-dev')
        library, = store.needs('libcoarrays-mpich-dev', 'libcaf-mpich-3')
        store.packages(library)
        self.version, self.runner = store.version(library), runner
        top = store.lib + '/open-coarrays/mpich/'
        self.library = top + 'lib/libcaf_mpich.so'
        self.env = dict(store.environment(), UCX_LOG_LEVEL='error')
        self.built = store.folder + '/built/coarrays/'
        os.makedirs(self.built, exist_ok=True)
        self.ours = sorted(os.path.basename(p)[:-4] for p in glob.glob(HERE + '*.f90'))
        self.theirs = sorted(p for p in glob.glob(top + 'bin/OpenCoarrays-*-tests/*')
                             if not ENDS_IMAGES.search(os.path.basename(p)))

    def build(self, name):
        """The path of a program of ours."""
        if not shutil.which('mpifort.mpich'):
            raise packages.Missing('mpifort.mpich is missing')
        source, program = HERE + name + '.f90', self.built + name
        if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
            done = subprocess.run(['mpifort.mpich', '-O2', '-fcoarray=lib', source, '-o', program,
                                   self.library, '-Wl,-rpath,' + os.path.dirname(self.library)],
                                  cwd=self.built, capture_output=True, text=True)
            if done.returncode:
                raise packages.Missing('%s is not compiled: %s' % (name, done.stderr[-300:]))
        return program

    def run(self, program, np, way='plain', limit=None):
        """In words, what came of it (empty: right), and the job."""
        job = self.runner.run(np, [program], way, self.built, self.env, limit)
        stop = re.search(r'ERROR STOP.*|Test failed.*', job.text)
        return job.ended or (stop[0][:60] if stop else '') or (
            '' if RIGHT.search(job.text) else 'does not say that it is right'), job


def check(store, runner, a):
    """A table: each program as it is, and with the libraries."""
    caf = Coarrays(store, runner)
    programs = [caf.build(name) for name in caf.ours if not a.only or name in a.only]
    programs += [p for p in caf.theirs if not a.only or os.path.basename(p) in a.only]
    print('OpenCoarrays %s\n' % caf.version)
    return jobs.compare('coarrays', programs, a, a.np or [1, 2, 4, 7], min(a.limit, 60),
                        lambda program, np, way, limit: caf.run(program, np, way, limit))

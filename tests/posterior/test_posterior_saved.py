#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-posterior --checkpoint: a run that continues another one and is itself continued, and loses the
rank that writes when its checkpoint is complete and no other rank knows. The others save again.

time: 240
"""
import os
import re
import subprocess
import sys
import tempfile
import time

from posterior import BIN, MPIEXEC

if 'openmpi' in MPIEXEC[0]:
    print("guards use the protocol of MPICH's launcher")
    sys.exit(77)
if 'san' in BIN:
    print('a program with a sanitizer does not take a library before it')
    sys.exit(77)
POSTERIOR = ['--model', 'eight-schools', '-g', '2', '-n', '40000', '--tune', '8']
REQUEUE = 99
RENAME = r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int rename(const char *from, const char *to) {
  int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
  int error = next(from, to);
  if (!strcmp(getenv("PMI_RANK"), "0"))
    kill(getpid(), SIGKILL);
  return error;
}
'''


def run(np, path, seconds, **env):
    """Ends early when so many have passed. Its status, and the steps that are left then."""
    env.update(RG_END_TIME='%.3f' % (time.time() + seconds), RG_END_MARGIN='0')
    done = subprocess.run([*MPIEXEC, '-n', str(np), BIN, *POSTERIOR, *['--checkpoint', path][:2 * bool(path)]],
                          env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    left = re.search(r': (\d+) steps are left', done.stdout)
    return done.returncode, int(left[1]) if left else 0, done.stdout


def checksum(done):
    status, _, text = done
    assert status == 0, done
    return re.findall(r"draws' checksum ([0-9a-f]{16})", text)


def continue_twice(folder, preload, seconds):
    """The draws; None: a run was over too early, or did nothing before its time was over."""
    path = os.path.join(tempfile.mkdtemp(dir=folder), 'state')
    status, first, _ = run(3, path, seconds)
    if status != REQUEUE:
        return None
    done = run(3, path, seconds, RG_SURVIVE='1', UCX_TLS='tcp,self', LD_PRELOAD=preload)
    if done[0] == 0 or done[1] == first:
        return None
    assert done[0] == REQUEUE and 'rank 0 was ended by signal 9' in done[2], done
    return checksum(run(2, path, 1e6))


with tempfile.TemporaryDirectory() as folder:
    with open(folder + '/rename.c', 'w') as f:
        f.write(RENAME)
    subprocess.run(['gcc', '-shared', '-fPIC', folder + '/rename.c', '-o', folder + '/rename.so'], check=True)
    began = time.monotonic()
    expected = checksum(run(2, None, 1e6))
    whole = time.monotonic() - began
    for part in 5 * [0.5, 0.4, 0.6, 0.3, 0.7, 0.8, 0.2, 1, 1.5]:  # until both runs are amid their work
        found = continue_twice(folder, folder + '/rename.so', part * whole)
        if found:
            break
    assert found == expected, (found, expected)

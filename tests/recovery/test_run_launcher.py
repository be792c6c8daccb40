#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""regroup-run looks at its launcher: Open MPI's is refused with a line, others get the command
line as it is. The status 75 of nodes that were given up is the job's only if no survivors have
ended well; such a job is lost, and started again. Lines count as a guard's only behind the mark that
guards know, which is removed: a program may print the same or end with 75. A command without a
program is refused, and a srun that cannot start a job is told from a task that has failed. When the launcher ends with status 9, a line says
that a guard may have been killed; a signal to regroup-run reaches the launcher. Where MPICH 4.2's launcher
ends with status 0 after a guard's line that the job ends, the line's signal is the status."""
import os
import subprocess
import tempfile

RUN = os.environ['RGT_BUILD'] + '/bin/regroup-run'
MARK = '${REGROUP_RUN_MARK}'  # before the lines of guards

for words in [], ['--restart'], ['--slurm', '--requeue']:  # a program is missing
    done = subprocess.run([RUN, *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, '') and 'no program' in done.stderr, done

with tempfile.TemporaryDirectory() as folder:
    srun = folder + '/srun'  # one that cannot start the job, and one whose task has failed
    for said, explained in ('srun: fatal: no configuration', 1), (
            'srun: error: node0: task 0: Exited with exit code 3', 0):
        with open(srun, 'w') as f:
            f.write('#!/bin/sh\necho "%s" >&2\nexit 3\n' % said)
        os.chmod(srun, 0o755)
        env = dict(os.environ, SLURM_JOB_ID='1', PATH=folder + ':' + os.environ['PATH'])
        env.pop('RG_MPIEXEC', None)
        done = subprocess.run([RUN, '-n', '2', 'program'], env=env, capture_output=True, text=True)
        assert done.returncode == 3 and done.stderr.count('RG_MPIEXEC=mpiexec.mpich') == explained, done

    launcher = folder + '/launcher'
    for version, good in [('mpiexec.openmpi (OpenRTE) 4.1.4', False),
                          ('mpirun (Open MPI) 5.0.3', False), ('HYDRA build details:', True)]:
        with open(launcher, 'w') as f:
            f.write('#!/bin/sh\n[ "$1" = --version ] && echo "%s" || echo "started $*"\n' % version)
        os.chmod(launcher, 0o755)
        done = subprocess.run([RUN, '-n', '2', 'program'], env=dict(os.environ, RG_MPIEXEC=launcher),
                              capture_output=True, text=True)
        if good:
            assert (done.returncode, done.stdout) == (0, 'started -n 2 program\n'), done
        else:
            assert done.returncode == 2 and not done.stdout, done
            assert done.stderr.count('\n') == 1 and 'RG_MPIEXEC=mpiexec.mpich' in done.stderr, done

    for said, status, starts in [(MARK + 'regroup: the job has ended well without 1 of its 3 nodes', 0, 1),
                                 ('regroup: the job has ended well without 1 of its 3 nodes', 75, 1),
                                 ('out of paper', 75, 1), ('regroup: the node of rank 4 ends: x', 75, 1),
                                 (MARK + 'regroup: the node of rank 4 ends: no majority', 75, 2),
                                 ('half a line' + MARK + 'regroup: the node of rank 4 ends: x', 75, 2)]:
        with open(launcher, 'w') as f:
            f.write('#!/bin/sh\n[ "$1" = --version ] || { echo started; echo "%s" >&2; exit 75; }\n'
                    % said)
        done = subprocess.run([RUN, '--restart=1', '-n', '2', 'program'], capture_output=True,
                              env=dict(os.environ, RG_MPIEXEC=launcher), text=True)
        assert (done.returncode, done.stdout.count('started')) == (status, starts), done
        assert done.stderr.startswith(said.replace(MARK, '')) and '@regroup' not in done.stderr, done

    for status in 0, 1, 9:
        with open(launcher, 'w') as f:
            f.write('#!/bin/sh\n[ "$1" = --version ] || exit %d\n' % status)
        done = subprocess.run([RUN, '-n', '2', 'program'], capture_output=True,
                              env=dict(os.environ, RG_MPIEXEC=launcher), text=True)
        assert done.returncode == status, done
        assert ('a guard was killed' in done.stderr) == (status == 9), done

    killed, broken = ('regroup: rank 1 was ended by signal %s before rg_init had returned everywhere: the job ends'
                      % s for s in ('9 (Killed)', '11 (Segmentation fault)'))
    well = 'regroup: the job has ended well without 1 of its 3 nodes'
    for version, said, status, expected in [
            ('4.2.1', MARK + killed, 0, 137), ('4.2.1', MARK + broken, 0, 139), ('4.2.1', killed, 0, 0),
            ('4.2.1', '[1] ' + MARK + killed, 0, 137), ('4.2.1', MARK + killed, 3, 3),
            ('4.2.1', 'rank 1 of 2', 0, 0), ('4.2.1', MARK + killed + '\n' + MARK + well, 0, 0),
            ('5.0', MARK + killed, 0, 137), ('4.0.2', killed, 9, 9)]:
        with open(launcher, 'w') as f:
            f.write('#!/bin/sh\n[ "$1" = --version ] && printf "HYDRA build details:\\n    Version:   %s\\n" && '
                    'exit\necho "%s" >&2\nexit %d\n' % (version, said, status))
        done = subprocess.run([RUN, '-n', '2', 'program'], capture_output=True,
                              env=dict(os.environ, RG_MPIEXEC=launcher), text=True)
        assert done.returncode == expected and done.stderr.startswith(said.replace(MARK, '') + '\n'), (
            version, done)
        assert ('a guard was killed' in done.stderr) == (version == '4.0.2'), (version, done)

    with open(launcher, 'w') as f:  # a lost job, which is started again once
        f.write('#!/bin/sh\n[ "$1" = --version ] && exit\necho started\necho "%s" >&2\n' % (MARK + killed))
    done = subprocess.run([RUN, '--restart=1', '-n', '2', 'program'], capture_output=True,
                          env=dict(os.environ, RG_MPIEXEC=launcher), text=True)
    assert (done.returncode, done.stdout) == (137, 'started\n' * 2), done

    with open(launcher, 'w') as f:
        f.write('#!/bin/sh\n[ "$1" = --version ] && exit\ntrap "echo ended; exit 5" TERM\n'
                'echo began\nwhile :; do sleep 0.1; done\n')
    job = subprocess.Popen([RUN, '-n', '2', 'program'], text=True, stdout=subprocess.PIPE,
                           env=dict(os.environ, RG_MPIEXEC=launcher))
    assert job.stdout.readline() == 'began\n'
    job.terminate()
    assert job.communicate()[0] == 'ended\n' and job.returncode == 5, job.returncode

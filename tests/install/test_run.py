#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What ./run installs: only with the user's consent, and without a question where there is no
terminal. Commands of the test's own stand for apt-get, SCons and the compilers.

tier: quick
beside: yes
"""
import os
import pty
import shutil
import subprocess
import sys
import tempfile

TOOLS = ['bash', 'cat', 'cp', 'dirname', 'env', 'id', 'paste', 'sleep', 'sort']
STANDINS = ['gcc', 'python3', 'mpicc.mpich', 'mpiexec.mpich']
# apt-get notes its words; what it "installs" is SCons.
APT = '''#!/bin/sh
echo "$*" >>"$NOTES"
case "$*" in *install*) cp "$BIN/gcc" "$BIN/scons" ;; esac
'''
if not os.path.exists('/etc/debian_version') or os.path.exists('/usr/sbin/scons'):
    print("only Debian's packages are installed by ./run")
    sys.exit(77)


def write(path, text):
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, 0o755)


class Place:
    """A tree with ./run in which SCons is missing."""

    def __init__(self, folder, **extra):
        self.top, self.bin, self.notes = folder, folder + '/bin', folder + '/notes'
        os.makedirs(self.bin)
        shutil.copy('run', folder + '/run')
        for name in TOOLS:
            os.symlink(shutil.which(name), self.bin + '/' + name)
        write(self.bin + '/sudo', '#!/bin/sh\nexec "$@"\n')
        for name in STANDINS:
            write(self.bin + '/' + name, '#!/bin/sh\necho "$0 $*" >>"$NOTES"\n')
        write(self.bin + '/apt-get', APT)
        self.env = dict(PATH=self.bin, BIN=self.bin, NOTES=self.notes, **extra)

    def noted(self):
        if not os.path.exists(self.notes):
            return ''
        with open(self.notes) as f:
            return f.read()

    def run(self, *words):
        return subprocess.run([self.bin + '/bash', self.top + '/run', *words], env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    def answer(self, *words, answer):
        """Runs it at a terminal; answer: what the user types when asked."""
        pid, terminal = pty.fork()
        if not pid:
            os.execve(self.bin + '/bash', ['bash', self.top + '/run', *words], self.env)
        said, typed = '', False
        while True:
            try:
                said += os.read(terminal, 4096).decode()
            except OSError:
                break
            if '[Y/n]' in said and not typed:
                os.write(terminal, answer.encode() + b'\n')
                typed = True
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def check_without_terminal(folder):
    for i, (words, extra) in enumerate([(['build'], {}), (['--yes', 'build'], {}),
                                        (['build', '--yes'], {}), (['build'], {'CI': 'true'})]):
        place = Place('%s/installs%d' % (folder, i), **extra)
        done = place.run(*words)
        assert done.returncode == 0 and 'installing: scons' in done.stdout, done.stdout
        assert '-y install --no-install-recommends scons' in place.noted(), place.noted()
        assert 'scons -Q BUILD=release WERROR=0' in place.noted(), place.noted()
    place = Place(folder + '/never')
    done = place.run('--no-install', 'build')
    assert done.returncode == 1 and 'missing: scons' in done.stdout, done.stdout
    assert 'install' not in place.noted(), place.noted()
    said = Place(folder + '/all').run('setup').stdout  # for users: nothing that only developers need
    assert 'cmake' in said and 'gcovr' not in said and 'clang-tidy' not in said, said


def check_at_terminal(folder):
    for answer, installs in [('', True), ('y', True), ('n', False), ('what?', False)]:
        place = Place('%s/asks-%s' % (folder, answer or 'return'))
        status, said = place.answer('build', answer=answer)
        assert 'apt-get: scons? [Y/n]' in said, said
        assert (status == 0) == installs == ('install' in place.noted()), (said, place.noted())
    place = Place(folder + '/yes')
    status, said = place.answer('build', '--yes', answer='n')
    assert status == 0 and '[Y/n]' not in said and 'install' in place.noted(), said
    place = Place(folder + '/ci', CI='1')
    status, said = place.answer('build', answer='n')
    assert status == 0 and '[Y/n]' not in said and 'install' in place.noted(), said


with tempfile.TemporaryDirectory() as top:
    check_without_terminal(top)
    check_at_terminal(top)

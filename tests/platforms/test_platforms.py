#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What `run` does where something is missing: it says what, fails, and leaves nothing. Commands of the
test's own stand for apt-get, debootstrap and unshare. And what `.ci/run` does with debootstrap.

beside: yes
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOOLS = ['bash', 'cat', 'dirname', 'env', 'git', 'id', 'mount', 'rm', 'sh', 'setpriv', 'sleep', 'tar']
MIRRORS = 'http://somewhere/debian-security/', 'https://packages/apt', 'http://somewhere/debian/'
APT = '#!/bin/sh\n[ "$1" != indextargets ] || printf "%s\\n" ' + ' '.join(MIRRORS)
BOOTSTRAP = '#!/bin/sh\necho "debootstrap $2 $4 $http_proxy" >>"$NOTES"\necho "E: nothing there"\nexit 1'
PROXY = '#!/bin/sh\n[ "$3" != Acquire::http::Proxy ] || echo "$2=\'http://proxy:3\'"'
UNSHARE = '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'  # starts the command itself


class Place:
    """A machine with stand-ins for commands."""

    def __init__(self, folder, **standins):
        self.folder, self.notes, self.cache = folder, folder + '/notes', folder + '/cache'
        os.makedirs(folder + '/bin')
        os.makedirs(self.cache)
        for name in TOOLS:
            os.symlink(shutil.which(name), folder + '/bin/' + name)
        for name, text in standins.items():
            name = folder + '/bin/' + name.replace('_', '-')
            with open(name, 'w') as f:
                f.write(text)
            os.chmod(name, 0o755)
        self.env = dict(PATH=folder + '/bin', NOTES=self.notes)

    def start(self, *words):
        # Not the PATH of this machine: it may have a debootstrap of its own where root looks for it.
        program = ('import runpy, sys; sys.argv = sys.argv[1:]; '
                   'main = runpy.run_path(sys.argv[0])["main"]; '
                   'main.__globals__["SBIN"] = ""; main.__globals__["PAUSE"] = 0; sys.exit(main())')
        return subprocess.Popen([sys.executable, '-c', program, 'tests/platforms/run', *words], env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def fails(self, *words):
        process = self.start('--cache', self.cache, 'debian13', *words)
        said = process.communicate()[0]
        assert process.returncode == 1 and not os.listdir(self.cache), (said, os.listdir(self.cache))
        return said.splitlines()[-1]

    def noted(self):
        with open(self.notes) as f:
            return f.read().splitlines()


def check_missing(top):
    said = Place(top + '/nothing').fails()
    assert said == 'FAIL debian13: debootstrap is missing: apt-get install debootstrap', said
    said = Place(top + '/caged', debootstrap=BOOTSTRAP,
                 unshare='#!/bin/sh\necho "unshare failed: Operation not permitted"; exit 1').fails()
    assert 'FAIL debian13: root may not make namespaces and mounts here (CAP_SYS_ADMIN): unshare failed' in said, said


def check_mirrors(top):
    """Each mirror of Debian twice, with apt's proxy, and the reason of each."""
    place = Place(top + '/mirrors', debootstrap=BOOTSTRAP, apt_get=APT, apt_config=PROXY,
                  unshare=UNSHARE + '[ "$1" = mount ] || exec "$@"')
    said = place.fails()
    assert said.endswith('http://somewhere/debian/: E: nothing there; '
                         'http://deb.debian.org/debian/: E: nothing there'), said
    tried = ['debootstrap trixie %s http://proxy:3' % m
             for m in ('http://somewhere/debian/', 'http://deb.debian.org/debian/')]
    assert place.noted() == 2 * tried, place.noted()


def check_killed(top):
    """What it has begun goes, also where it is killed."""
    for sig in signal.SIGTERM, signal.SIGKILL:
        place = Place('%s/killed%d' % (top, sig), unshare=UNSHARE + '[ "$1" = mount ] || exec "$@"',
                      debootstrap='#!/bin/sh\necho $$ >"$NOTES"; exec sleep 100')
        process = place.start('--cache', place.cache, 'debian13')
        while not (os.path.exists(place.notes) and place.noted()):
            time.sleep(0.02)
        assert glob.glob(place.cache + '/making-*')
        process.send_signal(sig)
        process.communicate()
        while os.listdir(place.cache) or os.path.exists('/proc/' + place.noted()[0]):
            time.sleep(0.02)


def check_ci(top):
    """.ci/run installs debootstrap, at the second attempt if need be, and goes on without it: the
    suite's last part then says what is missing."""
    for failures in range(3):
        apt = ('#!/bin/sh\necho "$*" >>"$NOTES"\ncase "$*" in *install*) '
               '[ $(grep -c install "$NOTES") -gt %d ] || exit 100; cp "$0" "${0%%/*}/debootstrap" ;; esac' % failures)
        place = Place('%s/ci%d' % (top, failures), apt_get=apt)
        for name in 'grep', 'cp':
            os.symlink(shutil.which(name), place.folder + '/bin/' + name)
        os.makedirs(place.folder + '/tree/.ci')
        for name in 'run', 'nightly':
            shutil.copy('.ci/' + name, place.folder + '/tree/.ci/' + name)
        with open(place.folder + '/tree/run', 'w') as f:
            f.write('#!/bin/sh\necho "run WERROR=$WERROR $*"\n')
        os.chmod(place.folder + '/tree/run', 0o755)
        name, words = ('run', '') if failures else ('nightly', ' --all')
        done = subprocess.run([place.folder + '/bin/bash', place.folder + '/tree/.ci/' + name],
                              env=dict(place.env, SBIN='', PAUSE='0'), capture_output=True, text=True)
        installs = [line for line in place.noted() if 'install' in line]
        assert len(installs) == min(2, failures + 1) and 'debootstrap' in installs[0], place.noted()
        assert 'run WERROR=1 --yes test --also tests/platforms/asan.sh --also tests/platforms/debian13.sh%s\n' % words in done.stdout, done
        assert done.returncode == 0 and ('could not install' in done.stderr) == (failures == 2), done


if os.getuid() != 0:
    print('a root with its own mounts can only be made as root')
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    for check in check_missing, check_mirrors, check_killed, check_ci:
        check(scratch)

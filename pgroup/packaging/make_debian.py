#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Makes a Debian source package: make_debian.py [FOLDER]        (build/debian)

FOLDER gets regroup-VERSION/, the source tree with debian/ in it, and beside it
regroup_VERSION.orig.tar.xz. In regroup-VERSION, dpkg-buildpackage -us -uc makes the packages.
DEBFULLNAME and DEBEMAIL name the maintainer.
"""
import os
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def version_of(top):
    with open(top + '/include/regroup/version.h') as f:
        return f.read().split('RG_VERSION "')[1].split('"')[0]


def series_of(version):
    """What the soname has: SConstruct, soversion."""
    major, minor, _ = version.split('.')
    return major if major != '0' else '0.' + minor


def source_files():
    """What git knows or would add; without git, all that is not hidden or built."""
    words = ['git', 'ls-files', '--cached', '--others', '--exclude-standard']
    git = shutil.which('git') and subprocess.run(words, cwd=TOP, capture_output=True, text=True)
    if git and git.returncode == 0:
        return [f for f in git.stdout.splitlines()
                if not f.startswith('.') and os.path.exists(TOP + '/' + f)]
    found = []
    for folder, folders, names in os.walk(TOP):
        folders[:] = [f for f in folders if not f.startswith('.') and f not in ('build', '__pycache__')]
        found += [os.path.relpath(os.path.join(folder, f), TOP) for f in names
                  if not f.startswith('.') and f != 'compile_commands.json']
    return found


def write_debian(tree, version):
    """debian/ from the files of pgroup/packaging/debian: words are filled in, in names too."""
    maintainer = '%s <%s>' % (os.environ.get('DEBFULLNAME', 'the Regroup authors'),
                              os.environ.get('DEBEMAIL', 'regroup@regroup.invalid'))
    words = {'@SERIES@': series_of(version), '@MAINTAINER@': maintainer}
    here, debian = TOP + '/pgroup/packaging/debian', tree + '/debian'

    def fill(text):
        for word, value in words.items():
            text = text.replace(word, value)
        return text

    os.makedirs(debian + '/source')
    for name in os.listdir(here):
        target = debian + '/' + fill(name[:-len('.in')] if name.endswith('.in') else name)
        with open(here + '/' + name) as f, open(target, 'w') as to:
            to.write(fill(f.read()))
        shutil.copymode(here + '/' + name, target)
    with open(debian + '/source/format', 'w') as f:
        f.write('3.0 (quilt)\n')
    date = os.environ.get('SOURCE_DATE_EPOCH') or os.stat(TOP + '/include/regroup/version.h').st_mtime
    date = time.strftime('%a, %d %b %Y %H:%M:%S +0000', time.gmtime(float(date)))
    with open(debian + '/changelog', 'w') as f:
        f.write('regroup (%s-1) unstable; urgency=medium\n\n  * Version %s: see CHANGELOG.md.\n\n'
                ' -- %s  %s\n' % (version, version, maintainer, date))


def main(folder):
    version = version_of(TOP)
    tree = '%s/regroup-%s' % (folder, version)
    shutil.rmtree(tree, ignore_errors=True)
    for name in source_files():
        os.makedirs(os.path.dirname('%s/%s' % (tree, name)), exist_ok=True)
        shutil.copy('%s/%s' % (TOP, name), '%s/%s' % (tree, name))
    subprocess.run(['tar', '--sort=name', '--owner=0', '--group=0', '-C', folder, '-cJf',
                    '%s/regroup_%s.orig.tar.xz' % (folder, version), 'regroup-' + version], check=True)
    write_debian(tree, version)
    print(tree)


main(os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else TOP + '/build/debian')

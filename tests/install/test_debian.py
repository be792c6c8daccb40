#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The Debian source package, without building it: complete, each installed file in one package, and
what it needs is what the build needs. debian_package.py builds and uses the packages, by hand.

tier: all
time: 200
beside: yes
"""
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

if os.path.basename(os.environ['RGT_BUILD']) != 'release':
    print('the package is tested with BUILD=release')
    sys.exit(77)


def call(command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **kwargs)
    assert done.returncode == 0, '%s\n%s' % (' '.join(command), done.stdout)
    return done.stdout


def read(path):
    with open(path) as f:
        return f.read()


def check_tree(work, tree, version, series):
    assert os.path.exists('%s/regroup_%s.orig.tar.xz' % (work, version))
    for name in ['SConstruct', 'run', 'include/regroup.h', 'pgroup/packaging/regroup.pc.in']:
        assert os.path.exists(tree + '/' + name), name
    assert not os.path.exists(tree + '/build') and not os.path.exists('debian')
    names = os.listdir(tree + '/debian')
    assert not any('@' in name or '@' in re.sub(r'<\S+@\S+>', '', read(tree + '/debian/' + name))
                   for name in names if name not in ('source', 'rules')), names
    control = read(tree + '/debian/control')
    packages = re.findall(r'^Package: (\S+)', control, re.M)
    assert packages == ['libregroup' + series, 'libregroup-dev', 'regroup-tools', 'regroup-doc']
    assert read(tree + '/debian/changelog').startswith('regroup (%s-1) ' % version)
    if shutil.which('dpkg-parsechangelog'):
        said = call(['dpkg-parsechangelog', '-l', tree + '/debian/changelog'])
        assert 'Version: %s-1' % version in said, said
    return control


def check_without_git(work, tree):
    """The same sources, but for those that git does not know."""
    os.makedirs(work + '/bin')
    for name in ['python3', 'tar', 'xz', 'env', 'sh']:
        os.symlink(shutil.which(name), '%s/bin/%s' % (work, name))
    made = call(['pgroup/packaging/make_debian.py', work + '/again'],
                env=dict(os.environ, PATH=work + '/bin')).split()[-1]
    assert set(os.listdir(tree)) <= set(os.listdir(made)), (os.listdir(tree), os.listdir(made))
    assert not os.path.exists(made + '/build')


def check_needs(control):
    """The packages of ./run's list that each build needs, and debhelper."""
    needed = re.search(r'Build-Depends: (.*?)\nStandards', control, re.S)[1]
    needed = {word.split()[0] for word in needed.replace('\n', ' ').split(',')}
    listed = {package: purpose for package, purpose in
              re.findall(r'^\S+ +(\S+) +(all|test)\S*$', read('run').split("NEEDS='")[1], re.M)}
    always = {name for name, purpose in listed.items() if purpose == 'all'}
    assert always - needed == {'gcc', 'libc6-dev'}, always ^ needed  # Debian's build-essential
    assert needed - set(listed) == {'debhelper-compat'}, needed - set(listed)


def check_lists(work, tree):
    """Each file that scons install makes is in the list of one package, or of none on purpose."""
    call(['scons', '-Q', 'install', 'PREFIX=/usr', 'LIBDIR=lib/some-arch', 'DESTDIR=' + work + '/s'])
    files = [os.path.relpath(os.path.join(folder, name), work + '/s')
             for folder, _, names in os.walk(work + '/s') for name in names]
    patterns = {}
    for path in glob.glob(tree + '/debian/*.install') + [tree + '/debian/not-installed']:
        words = [line for line in read(path).splitlines() if line and line[0] != '#']
        patterns[os.path.basename(path)] = words
        for word in words:  # dh_install fails where a pattern has no file
            assert any(fnmatch.fnmatch(f, word) or fnmatch.fnmatch(f, word + '/*') for f in files), word
    for f in files:
        owners = [name for name, words in patterns.items() if any(
            fnmatch.fnmatch(f, word) or fnmatch.fnmatch(f, word + '/*') for word in words)]
        assert len(owners) == 1, '%s is in: %s' % (f, owners)


with tempfile.TemporaryDirectory() as folder:
    made = call(['pgroup/packaging/make_debian.py', folder]).split()[-1]
    number = read('include/regroup/version.h').split('RG_VERSION "')[1].split('"')[0]
    library = os.environ['RGT_BUILD'] + '/lib/libregroup.so'
    soname = re.search(r'soname: \[libregroup\.so\.(.*)\]', call(['readelf', '-d', library]))[1]
    check_needs(check_tree(folder, made, number, soname))
    check_lists(folder, made)
    check_without_git(folder, made)

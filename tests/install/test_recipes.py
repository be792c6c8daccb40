#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The recipes of docs/packaging: they are Python, name what the build needs and nothing else, and give
SCons settings that it knows. Neither Spack nor EasyBuild is run. And the version's number is the same
wherever it is written.

tier: quick
beside: yes
"""
import glob
import os
import re
import subprocess

# What the build names by Debian's packages, and by the recipes' names.
NAMES = {'libpopt-dev': ('popt', 'popt'), 'libjansson-dev': ('jansson', 'Jansson'),
         'libhwloc-dev': ('hwloc', 'hwloc'), 'libsodium-dev': ('libsodium', 'libsodium'),
         'librandom123-dev': ('random123', 'Random123'), 'libarmci-mpi-dev': ('armcimpi', 'ARMCI-MPI'),
         'libopenblas-dev': ('blas', 'OpenBLAS')}
TOOLS = {'c', 'python', 'pkgconfig', 'mpi'}, {'SCons', 'pkgconf', 'MPICH'}


def read(path):
    with open(path) as f:
        return f.read()


def check_settings(words):
    """SCons takes them; with -h it looks at no compiler."""
    done = subprocess.run(['scons', '-Q', '-h', *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stdout)
    return {word.split('=')[0] for word in words}


def check_spack(version, needed):
    recipe = read('docs/packaging/spack/package.py')
    compile(recipe, 'package.py', 'exec')
    assert re.findall(r'version\("([^"]+)"', recipe) == [version]
    asked = {re.split('[@+ ]', spec)[0] for spec in re.findall(r'depends_on\("([^"]+)"', recipe)}
    assert asked == {NAMES[name][0] for name in needed} | TOOLS[0], asked


def check_easybuild(version, needed):
    described = {}
    for path in glob.glob('docs/packaging/easybuild/*.eb'):
        space = {}
        exec(compile(read(path), path, 'exec'), space)
        chain = '%(name)s-%(version)s' % space['toolchain']
        assert os.path.basename(path) == '%s-%s-%s.eb' % (space['name'], space['version'], chain)
        described[space['name']] = space
    ours = described['Regroup']
    assert ours['version'] == version
    pairs = ours['dependencies'] + ours['builddependencies']
    assert {name for name, _ in pairs} == {NAMES[name][1] for name in needed} | TOOLS[1], pairs
    for name, number in pairs:  # those that are described here, in the version described
        assert name not in described or described[name]['version'] == number, name
        assert name not in described or described[name]['toolchain'] == ours['toolchain']
    roots = {'$EBROOT' + name.upper().replace('-', 'MIN') for name, _ in pairs}
    words = ours['buildopts'].split()
    used = {word.split('=')[1] for word in words if '$' in word}
    assert used <= roots, used - roots
    check_settings(words)
    for name in ours['sanity_check_paths']['files']:
        assert os.path.exists('%s/%s' % (os.environ['RGT_BUILD'], name)) or name.startswith('include')


def check_numbers(version):
    """In documents, whole or without the patch; a release has one date."""
    series, written = version.rpartition('.')[0], {}
    for name, pattern in [
            ('README.md', r'Version (\d[\d.]*\d)'),
            ('CITATION.cff', r'^version: (.*)'),
            ('CHANGELOG.md', r'\A(?:.*\n)*?## \[(.*?)\]'),
            ('docs/building.md', r'(?:[Rr]egroup[-@]|Regroup |libregroup)(\d+\.[\d.]*\d)')]:
        written[name] = re.findall(pattern, read(name), re.M)
        assert written[name] and set(written[name]) <= {version, series}, (name, written[name])
    dated = re.search(r'^## \[.*?\] - (\S+)', read('CHANGELOG.md'), re.M)[1]
    assert dated == 'unreleased' or 'date-released: %s\n' % dated in read('CITATION.cff'), dated


number = read('include/regroup/version.h').split('RG_VERSION "')[1].split('"')[0]
packages = set(re.findall(r"(?:\w\.h'|blas_header): '([\w-]+)'", read('SConstruct')))
packages -= {'libcunit1-dev', 'libglobalarrays-dev'}  # of tests and measurements
assert packages == set(NAMES), packages ^ set(NAMES)
check_numbers(number)
check_spack(number, packages)
check_easybuild(number, packages)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The recipes of docs/packaging: they are Python, name what the build needs and nothing else, and give
SCons settings that it knows. Neither Spack nor EasyBuild is run: a stand-in has Spack's words.

beside: yes
"""
import glob
import os
import re
import subprocess
import sys
import types

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


class Dependency:
    """What a recipe asks of spec[NAME]."""

    def __init__(self, name):
        self.name, self.prefix, self.mpicc = name, '/spack/' + name, '/spack/mpi/bin/mpicc'
        self.libs = types.SimpleNamespace(names=['openblas'])


class Spec:
    def __init__(self, facts, dependencies):
        self.facts, self.dependencies = facts, dependencies

    def satisfies(self, what):
        return what in self.facts

    def __getitem__(self, name):
        assert name in self.dependencies, '%s is used, but not among the dependencies' % name
        return Dependency(name)


def load_spack(path):
    """The recipe's class, with its versions, variants and dependencies {name: condition}."""
    said = types.SimpleNamespace(versions=[], variants=[], needs={})
    module = types.ModuleType('spack.package')
    module.__dict__.update(
        SConsPackage=object, license=lambda *a, **k: None, requires=lambda *a, **k: None,
        version=lambda name, **k: said.versions.append(name),
        variant=lambda name, **k: said.variants.append(name),
        depends_on=lambda spec, when='', **k: said.needs.update({re.split('[@+ ]', spec)[0]: when}))
    sys.modules.update({'spack': types.ModuleType('spack'), 'spack.package': module})
    space = {}
    exec(compile(read(path), path, 'exec'), space)
    return space['Regroup'](), said


def check_spack(version, needed):
    recipe, said = load_spack('docs/packaging/spack/package.py')
    assert said.versions == [version] and said.variants == ['arrays'], vars(said)
    assert set(said.needs) == {NAMES[name][0] for name in needed} | TOOLS[0], said.needs
    assert {name for name, when in said.needs.items() if when} == {'armcimpi', 'blas'}
    everything = set(said.needs)
    for facts, mpi in [({'+arrays'}, 'mpich'), ({'~arrays'}, 'mpich'),
                       ({'+arrays', '^[virtuals=mpi] openmpi'}, 'openmpi')]:
        arrays = '+arrays' in facts
        spec = Spec(facts, everything if arrays else everything - {'armcimpi', 'blas'})
        words = recipe.build_args(spec, '/spack/regroup')
        assert words == recipe.install_args(spec, '/spack/regroup')
        assert 'MPI=' + mpi in words and ('ARRAYS=no' in words) != arrays, words
        assert ('BLAS=openblas' in words) == arrays, words
        settings = check_settings(words)
        assert {'PREFIX', 'MPICC', 'HWLOC_PREFIX', 'RANDOM123_PREFIX'} <= settings, settings


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


number = read('include/regroup/version.h').split('RG_VERSION "')[1].split('"')[0]
packages = set(re.findall(r"(?:\w\.h'|blas_header): '([\w-]+)'", read('SConstruct')))
packages -= {'libcunit1-dev', 'libglobalarrays-dev'}  # of tests and measurements
assert packages == set(NAMES), packages ^ set(NAMES)
check_spack(number, packages)
check_easybuild(number, packages)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Debian's packages in a folder of our own: fetched by apt-get and unpacked, never installed."""
import glob
import os
import shutil
import subprocess
import tempfile
import time


class Missing(Exception):
    """Something cannot be had; the text says what and why."""


def succeeds(*command, **more):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          **more).returncode == 0


def is_installed(package):
    done = subprocess.run(['dpkg-query', '-W', '-f', '${Status}', package], capture_output=True,
                          text=True)
    return done.stdout.endswith(' installed')


class Store:
    """The folder: packages are unpacked below root/, sources below source/; have/ says which are
    there, with their versions. A Store that is complete needs no network."""

    def __init__(self, folder, limit=900):
        """limit: seconds that all fetching together may take."""
        self.folder = os.path.abspath(folder)
        self.root = self.folder + '/root'
        self.deadline = time.monotonic() + limit
        for name in ['root', 'source', 'have', 'built']:
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        triplet = subprocess.run(['gcc', '-print-multiarch'], capture_output=True, text=True).stdout
        self.lib = '%s/usr/lib/%s' % (self.root, triplet.strip())

    def version(self, name):
        try:
            with open('%s/have/%s' % (self.folder, name)) as f:
                return f.read().strip()
        except OSError:
            return None

    def note(self, name, version):
        with open('%s/have/%s' % (self.folder, name), 'w') as f:
            f.write(version + '\n')

    def _apt(self, words, cwd, release=None):
        """Runs apt-get with lists of our own, or with the machine's where release is None."""
        options = []
        if release:
            options = ['-o', 'Dir::Etc::sourcelist=%s/%s.list' % (self.folder, release),
                       '-o', 'Dir::Etc::sourceparts=/nonexistent',
                       '-o', 'Dir::State::lists=%s/lists-%s' % (self.folder, release),
                       '-o', 'Dir::Cache=%s/cache' % self.folder]
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Missing('the time for fetching is over')
        if not shutil.which('apt-get'):
            raise Missing('there is no apt-get')
        try:
            return subprocess.run(['apt-get', '-q', *options, *words], cwd=cwd, timeout=left,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        except subprocess.TimeoutExpired:
            raise Missing('apt-get %s did not end in time' % words[0]) from None

    def _update(self, release, kinds):
        """Lists of our own of a release, from the mirror that the machine uses."""
        os.makedirs('%s/lists-%s/partial' % (self.folder, release), exist_ok=True)
        targets = subprocess.run(['apt-get', 'indextargets', '--format', '$(SITE) $(RELEASE)',
                                  'Created-By: Packages', 'Origin: Debian'],
                                 capture_output=True, text=True).stdout.split('\n')
        here = this_release()
        sites = sorted({t.split()[0] for t in targets if t.split()[1:] == [here]})
        if not sites:
            raise Missing('apt-get knows no mirror of Debian %s' % here)
        with open('%s/%s.list' % (self.folder, release), 'w') as f:
            f.writelines('%s %s %s main\n' % (kind, sites[0], release) for kind in kinds)
        done = self._apt(['update'], self.folder, release)
        if done.returncode:
            raise Missing('apt-get update failed: ' + last_line(done.stdout))

    def _fetch(self, package):
        """Fetches and unpacks one package."""
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            done = self._apt(['download', package], scratch)
            if done.returncode:  # the machine's lists may be old, or not there
                self._update(this_release(), ['deb'])
                done = self._apt(['download', package], scratch, this_release())
            found = glob.glob(scratch + '/*.deb')
            if done.returncode or not found:
                raise Missing('%s: %s' % (package, last_line(done.stdout)))
            if not succeeds('dpkg', '-x', found[0], self.root):
                raise Missing('%s cannot be unpacked' % package)
            needs = subprocess.run(['dpkg-deb', '-f', found[0], 'Depends'], capture_output=True, text=True)
            self.note(package + '.needs', needs.stdout.strip())
            self.note(package, os.path.basename(found[0]).split('_')[1].replace('%3a', ':'))

    def needs(self, package, *beginnings):
        """What a package that is there names as needed, of these beginnings: the rest of the names
        differs between releases."""
        known = self.version(package + '.needs') or ''
        names = [n.split()[0].split(':')[0] for n in known.replace('|', ',').split(',') if n.strip()]
        return [next((n for n in names if n.startswith(b)), b) for b in beginnings]

    def packages(self, *names, unless_installed=()):
        """Sees to it that the packages are there; those of unless_installed only where the
        machine has not got them."""
        for name in [*names, *(p for p in unless_installed if not is_installed(p))]:
            if not self.version(name) or self.version(name + '.needs') is None:
                self._fetch(name)

    def source(self, name, releases=()):
        """The folder with the authors' source of Debian's source package; of the machine's
        release, or where the mirror lacks that, of the first other one that has it."""
        folder = '%s/source/%s' % (self.folder, name)
        said = ''
        for release in [this_release(), *releases]:
            if self.version(name + '.source'):
                break
            with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
                self._update(release, ['deb-src'])
                self._apt(['source', '--download-only', '--tar-only', name], scratch, release)
                found = glob.glob(scratch + '/*.orig.tar.*')
                if not found:
                    said += ' the mirror has not got the source of %s in %s' % (name, release)
                    continue
                shutil.rmtree(folder, ignore_errors=True)
                os.mkdir(folder)
                if not succeeds('tar', '-xf', found[0], '-C', folder, '--strip-components=1'):
                    raise Missing('the source of %s cannot be unpacked' % name)
                self.note(name + '.source', os.path.basename(found[0]).split('_')[1]
                           .split('.orig')[0])
        if not self.version(name + '.source'):
            raise Missing(said.strip())
        return folder

    def environment(self):
        """Variables for what is unpacked here."""
        paths = [self.lib, self.lib + '/blas', self.lib + '/lapack']
        return {'LD_LIBRARY_PATH': ':'.join(paths), 'OPENBLAS_NUM_THREADS': '1',
                'OMP_NUM_THREADS': '1'}


def this_release():
    try:
        with open('/etc/os-release') as f:
            found = [line for line in f if line.startswith('VERSION_CODENAME=')]
        return found[0].strip().split('=')[1]
    except (OSError, IndexError):
        raise Missing('this is no Debian') from None


def last_line(text):
    lines = [line for line in text.splitlines() if line.startswith('E:')]
    return lines[-1] if lines else (text.splitlines() or ['no reason given'])[-1]

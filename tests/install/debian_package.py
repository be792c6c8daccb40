#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The Debian packages, by hand: debian_package.py [--fresh] [FOLDER]        (build/debian)

Makes the source package in FOLDER, builds it with dpkg-buildpackage, asks lintian, which may find no
error, unpacks the packages with dpkg -x, and there compiles programs with pkg-config and runs them with
the packages' libraries. Needs build-essential, debhelper, lintian, and what the build needs.

--fresh: also installs the packages in a fresh root of this Debian, made by debootstrap, as root, and
uses them there.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys

MPIEXEC = shutil.which('mpiexec.mpich') or 'mpiexec'


def call(command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **kwargs)
    if done.returncode:
        sys.exit('%s\n%s' % (' '.join(command), done.stdout[-8000:]))
    return done.stdout


def build(folder):
    for name in glob.glob(folder + '/*.deb'):
        os.remove(name)
    tree = call(['pgroup/packaging/make_debian.py', folder]).split()[-1]
    call(['dpkg-buildpackage', '-us', '-uc'], cwd=tree,
         env=dict(os.environ, DEB_BUILD_OPTIONS='parallel=%d' % os.cpu_count()))
    packages = {os.path.basename(f).split('_')[0]: f for f in glob.glob(folder + '/*.deb')
                if '-dbgsym_' not in f}
    assert {name.rstrip('.0123456789') for name in packages} == {
        'libregroup', 'libregroup-dev', 'regroup-tools', 'regroup-doc'}, packages
    changes = glob.glob(folder + '/regroup_*.changes')
    print(call(['lintian', '--fail-on', 'error', '--allow-root', *changes]) or 'lintian: nothing')
    return packages


def unpack(packages, root):
    shutil.rmtree(root, ignore_errors=True)
    for package in packages.values():
        call(['dpkg', '-x', package, root])
    # The soname and the package's name say the same series.
    lib = glob.glob(root + '/usr/lib/*/libregroup.so.*.*.*')[0]
    series = next(name for name in packages if name[-1].isdigit())[len('libregroup'):]
    assert 'soname: [libregroup.so.%s]' % series in call(['readelf', '-d', lib])
    for path in ['usr/bin/regroup-info', 'usr/share/man/man1/regroup-info.1.gz',
                 'usr/share/man/man3/rg_init.3.gz', 'usr/share/doc/regroup-doc/guide.md',
                 'usr/share/doc/libregroup%s/copyright' % series, 'usr/include/regroup.h']:
        assert os.path.exists('%s/%s' % (root, path)), path
    return os.path.dirname(lib)


def use(root, lib):
    env = dict(os.environ, PKG_CONFIG_PATH=lib + '/pkgconfig', PKG_CONFIG_SYSROOT_DIR=root,
               LD_LIBRARY_PATH=lib)
    for package, source in [('regroup', 'client.c'), ('regroup-arrays', 'client_arrays.c')]:
        # pkg-config puts the root before MPI's folders too, which are not in it.
        flags = [f if os.path.exists(f[2:]) else f.replace(root, '') for f in
                 call(['pkg-config', '--cflags', '--libs', package], env=env).split()]
        program = '%s/%s' % (root, package)
        call(['gcc', 'tests/install/' + source, '-o', program, '-I%s/usr/include' % root, '-L' + lib,
              *flags])
        said = call([MPIEXEC, '-n', '2', program], env=env)
        assert 'size 2 polite 1' in said, said
    assert 'RG_POLITE' in call([root + '/usr/bin/regroup-info'], env=env)
    call([shutil.which('mpicc.mpich') or 'mpicc', 'tests/docs/app.c', '-o', root + '/app', '-ldl'])
    call([MPIEXEC, '-n', '2', root + '/app'],
         env=dict(env, LD_PRELOAD=glob.glob(lib + '/libregroup-mpi.so.*')[0]))


IN_ROOT = '''set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -y install --no-install-recommends /packages/*.deb gcc libc6-dev pkg-config cmake make g++ man-db
cd /packages
gcc client.c -o client $(pkg-config --cflags --libs regroup)
gcc client_arrays.c -o client_arrays $(pkg-config --cflags --libs regroup-arrays)
mkdir project && cp client.c project
cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(client C)
find_package(Regroup @SERIES@ REQUIRED COMPONENTS regroup)
add_executable(client client.c)
target_link_libraries(client Regroup::regroup)
END
cmake -S project -B project/build && cmake --build project/build
for program in ./client ./client_arrays project/build/client; do
  timeout 120 mpiexec.mpich -n 2 $program | grep "size 2 polite 1"
done
timeout 120 regroup-run -n 2 ./client | grep "size 2 polite 1"
regroup-info | grep -q RG_POLITE
apt-get -q -y remove libregroup@SERIES@
test ! -e /usr/include/regroup.h
'''


def use_in_fresh_root(packages, root):
    """Has its own mounts: what fails leaves nothing behind but the folder."""
    suite = call(['sh', '-c', '. /etc/os-release && echo $VERSION_CODENAME']).strip()
    proxy = call(['sh', '-c', 'eval $(apt-config shell p Acquire::http::Proxy); echo $p']).strip()
    shutil.rmtree(root, ignore_errors=True)
    call(['debootstrap', '--variant=minbase', suite, root],
         env=dict(os.environ, http_proxy=proxy) if proxy else None)
    os.makedirs(root + '/packages')
    for path in [*packages.values(), 'tests/install/client.c', 'tests/install/client_arrays.c']:
        shutil.copy(path, root + '/packages')
    shutil.copy('/etc/resolv.conf', root + '/etc/resolv.conf')
    if proxy:
        with open(root + '/etc/apt/apt.conf.d/proxy', 'w') as f:
            f.write('Acquire::http::Proxy "%s";\n' % proxy)
    series = next(name for name in packages if name[-1].isdigit())[len('libregroup'):]
    script = ('mount -t proc proc "$0/proc"; mount -t sysfs sysfs "$0/sys"; mkdir -p "$0/dev/shm"; '
              'mount -t tmpfs tmpfs "$0/dev/shm"; exec chroot "$0" sh -s')
    print(call(['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, root],
               input=IN_ROOT.replace('@SERIES@', series))[-2000:])
    shutil.rmtree(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--fresh', action='store_true')
    parser.add_argument('folder', nargs='?', default='build/debian')
    given = parser.parse_args()
    folder = os.path.abspath(given.folder)
    os.makedirs(folder, exist_ok=True)
    packages = build(folder)
    use(folder + '/root', unpack(packages, folder + '/root'))
    print('built, unpacked and used: ' + ' '.join(sorted(packages)))
    if given.fresh:
        use_in_fresh_root(packages, folder + '/fresh')
        print('installed and used in a fresh root')


main()

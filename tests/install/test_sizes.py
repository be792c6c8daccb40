#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Programs that were compiled with shorter or longer public structs than the library's run with it.

The headers of such programs are made from the present ones: each struct that begins with its size
loses its last member, or gets one more.

time: 200
beside: yes
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ['RGT_BUILD']
MPIEXEC = os.environ['RGT_MPIEXEC'].split()
MPICC = shutil.which('mpicc.' + MPIEXEC[0].split('.')[-1])
PARTS = ['arrays', 'balance', 'inter', 'reserve', 'unset']
STRUCT = re.compile(r'((?:typedef struct|struct rg_\w+) \{\n  size_t size;[^{}]*)\}( rg_\w+)?;')
if os.path.basename(BUILD) != 'release' or not MPICC:
    print('these programs are tested with BUILD=release and a compiler for its MPI')
    sys.exit(77)


def without_comments(text):
    return re.sub(r'/\*.*?\*/', '', text, flags=re.S)


def shorter(match):
    """Without the last member: the text after the semicolon before the last one."""
    members = match[1].rstrip().rstrip(';')
    return members[:members.rindex(';') + 1] + '\n}' + (match[2] or '') + ';'


def longer(match):
    return match[1] + '  int64_t later;\n}' + (match[2] or '') + ';'


def change_headers(change, folder):
    changed = 0
    shutil.copytree('include', folder)
    for header in glob.glob(folder + '/regroup/*.h'):
        with open(header) as f:
            text, n = STRUCT.subn(change, without_comments(f.read()))
        with open(header, 'w') as f:
            f.write(text)
        changed += n
    return changed


def call(command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)
    assert done.returncode == 0, '%s\n%s' % (' '.join(command), done.stdout)


def run_client(headers, program, *flags):
    call([MPICC, '-std=c11', '-Wall', '-Wextra', '-Werror', '-Wno-missing-field-initializers',
          *flags, '-I' + headers, '-isystem', headers, 'tests/install/client_sizes.c', '-o',
          program, '-L%s/lib' % BUILD, '-lregroup-arrays', '-lregroup', '-larmci-mpich',
          '-Wl,-rpath,' + os.path.abspath(BUILD + '/lib')])
    for part in PARTS:
        call([*MPIEXEC, '-n', '3', program, part], cwd=os.path.dirname(program))


with tempfile.TemporaryDirectory() as folder:
    with open('include/regroup/error.h') as f:
        assert 'first member, `size`' in f.read()
    run_client('include', folder + '/present')
    sized = sum(len(re.findall(r'^  size_t size;', open(h).read(), re.M))
                for h in glob.glob('include/regroup/*.h'))
    assert change_headers(shorter, folder + '/short') == sized >= 11, sized
    run_client(folder + '/short', folder + '/shorter')
    assert change_headers(longer, folder + '/long') == sized
    run_client(folder + '/long', folder + '/longer', '-DLATER')

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The documentation tells the truth: commands run, code compiles, tables and links are complete.

All ```sh blocks of a page are run in one shell, in a folder that looks like the top of the source
tree; a ```text block after one is what it prints, in any order of lines. A ```c block is a file
under examples/, without its first comment, or a fragment that compiles.

time: 240
beside: yes
"""
import glob
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, 'tests')
import run_tests  # noqa: E402
from pages import PAGES, blocks, broken_links, prose, read

ROOT = os.getcwd()
# Commands that are not run: they install, fetch, or are long and tested elsewhere.
NOT_RUN = r'\s*(\./run (demo|test|paper|scale|setup)\b|(sudo )?apt(-get)? |git clone |cd )'
# Words that have no place in a user's page: how and where it was written.
UNWANTED = [r'/root/', r'/home/', r'\bTODO\b', r'\bFIXME\b']
# What the fragments of code take for granted.
SETTING = '''#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
extern rg_group world, team, both, mine, now;
extern MPI_Comm comm;
extern int rank, other;
extern double load, sum;
extern rg_balancer b;
void fragment(void);
void fragment(void) {
%s}
'''


def compiler():
    return shutil.which('mpicc.mpich') or 'mpicc'


def check_code():
    """Whole programs are examples, fragments compile."""
    examples = {re.sub(r'\A/\*.*?\*/\n', '', read(f), flags=re.S)
                for f in glob.glob('examples/*/*.c')}
    for page in PAGES:
        for line, language, text in blocks(page):
            where = '%s:%d' % (page, line)
            if language == 'c' and 'int main(' in text:
                if text not in examples:
                    yield '%s: the program is no file under examples/' % where
            elif language == 'c':
                done = subprocess.run([compiler(), '-std=c11', '-Wall', '-Werror', '-Wno-unused',
                                       '-Iinclude', '-fsyntax-only', '-x', 'c', '-'],
                                      input=SETTING % text, text=True, capture_output=True)
                if done.returncode:
                    yield '%s: does not compile:\n%s' % (where, done.stderr)


def check_options():
    """docs/environment.md has the table of regroup-info."""
    command = [*os.environ['RGT_MPIEXEC'].split(), '-n', '1',
               os.environ['RGT_BUILD'] + '/bin/regroup-info', '--markdown']
    table = subprocess.run(command, capture_output=True, text=True).stdout
    if not table or '\n\n%s\n' % table not in read('docs/environment.md'):
        yield 'docs/environment.md: its table is not what regroup-info --markdown prints:\n' + table


def check_reference():
    """docs/reference.md has each function once, in the part of its header."""
    parts = dict(re.findall(r'^## [^\n]*\(\.\./(include/[^)]*)\)\n(.*?)(?=^## |\Z)',
                            read('docs/reference.md'), re.M | re.S))
    for header in glob.glob('include/regroup/*.h'):
        code = re.sub(r'/\*.*?\*/', '', read(header), flags=re.S)
        wanted = sorted(re.findall(r'^RG_API[^;(]*?\b(rg_\w+)\(', code, re.M))
        found = sorted(re.findall(r'^\| `(rg_\w+)` \|', parts.get(header, ''), re.M))
        if wanted != found:
            yield 'docs/reference.md: for %s: missing or too much: %s' % (
                header, ', '.join(sorted(set(wanted) ^ set(found))) or 'a function twice')
    names = re.findall(r'^  (RG_(?!ERR_LAST)\w+)', read('include/regroup/error.h'), re.M)
    for name in names:
        if '`%s`' % name not in read('docs/reference.md'):
            yield 'docs/reference.md: %s is missing' % name


def check_links():
    for page in PAGES:
        yield from broken_links(page)


def check_words():
    for page in PAGES:
        for pattern in UNWANTED:
            for found in re.finditer(pattern, prose(page)):
                yield '%s: unwanted: %s' % (page, found[0])


def furnish(scratch):
    """Makes scratch look like the top of the tree; returns the environment for commands there."""
    for name in os.listdir(ROOT):
        if not name.startswith('.'):
            os.symlink(os.path.join(ROOT, name), os.path.join(scratch, name))
    os.symlink(ROOT + '/tests/docs/app.c', scratch + '/app.c')
    tools, home = scratch + '/.tools', scratch + '/.home'
    os.mkdir(tools)
    os.mkdir(home)
    for name in ['mpiexec', 'mpiexec.mpich']:
        os.symlink(ROOT + '/tests/docs/short_mpiexec.py', tools + '/' + name)
    with open(tools + '/scons', 'w') as f:
        f.write('#!/bin/sh\ncd "%s" && exec "%s" -Q "$@"\n' % (ROOT, shutil.which('scons')))
    os.chmod(tools + '/scons', stat.S_IRWXU)
    env = {k: v for k, v in os.environ.items() if not k.startswith('RG_')}
    mpiexec, *options = env['RGT_MPIEXEC'].split()
    env.update(DOCS_SECONDS=str(run_tests.limit(100)), PATH=tools + ':' + env['PATH'], HOME=home,
               DOCS_MPIEXEC=' '.join([shutil.which(mpiexec), *options]))
    return env


def script_of(page):
    """One script with the page's commands, and the output that is promised: {block: text}."""
    script, promised, last = 'set -eu\n', {}, None
    for line, language, text in blocks(page):
        if language == 'sh':
            last = line
            kept = [c for c in text.splitlines(True) if not re.match(NOT_RUN, c)]
            script += 'echo @@%d\n%s' % (line, ''.join(kept))
        elif language == 'text' and last:
            promised[last] = text
    return script, promised


def check_commands():
    """The commands of every page run, and print what the page says."""
    for page in PAGES:
        script, promised = script_of(page)
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run(['bash', '-c', script], cwd=scratch, env=furnish(scratch),
                                  text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = dict(re.findall(r'^@@(\d+)\n(.*?)(?=^@@|\Z)', done.stdout, re.M | re.S))
        if done.returncode:
            yield '%s:%s: ended with status %d:\n%s' % (page, list(said)[-1] if said else '1',
                                                        done.returncode, done.stdout)
            continue
        for line, text in promised.items():
            if sorted(said[str(line)].splitlines()) != sorted(text.splitlines()):
                yield '%s:%d: does not print what the page says, but:\n%s' % (page, line,
                                                                              said[str(line)])


def main():
    if os.path.basename(os.environ['RGT_BUILD']) != 'release':
        print('the documentation is tested with BUILD=release')
        sys.exit(77)
    wrong = [text for check in [check_code, check_options, check_reference, check_links,
                                check_words, check_commands] for text in check()]
    print('\n'.join(wrong))
    sys.exit(1 if wrong else 0)


main()

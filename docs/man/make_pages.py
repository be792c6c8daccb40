#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Writes the manual pages: make_pages.py FOLDER VERSION [PROGRAM ...]

Section 3 has a page for each function. It consists of the function's line of docs/reference.md,
its prototype and comment in the public header, and the header's own comment, which holds for all
of its functions. Section 1 has a page for each PROGRAM, which consists of its output for --help.
"""
import glob
import os
import re
import subprocess
import sys

TITLES = {
    'regroup-bench': "compares groups, collectives, messages and arrays with MPI's own",
    'regroup-info': 'prints the version, the MPI library and all options',
    'regroup-mcmc': 'runs random walkers that balance their load by regrouping',
    'regroup-posterior': 'samples a posterior with a known answer by groups of ranks',
    'regroup-run': 'starts a job that survives the death of its processes',
    'regroup-simulate': 'simulates load balancing for up to a million ranks',
    'regroup-topo': 'draws the hierarchy of a machine and its ranks',
}



def roff(text):
    """The text, escaped for a block without filling."""
    text = text.replace('\\', '\\e').replace('-', '\\-')
    text = ''.join(c if ord(c) < 128 else '\\[u%04X]' % ord(c) for c in text)
    return '\n'.join('\\&' + line if line[:1] in ".'" else line for line in text.split('\n'))


def plain(comment):
    """The text of a comment, without its delimiters and the lines on licence and authors."""
    lines = [re.sub(r'^ ?\*? ?', '', line) for line in comment.strip()[2:-2].split('\n')]
    lines = [l.rstrip() for l in lines if 'SPDX-' not in l and 'Copyright (c)' not in l]
    return '\n'.join(lines).strip()


def page(name, section, version, title, parts):
    text = '.TH %s %d "" "Regroup %s"\n.SH NAME\n%s \\- %s\n' % (
        roff(name).upper(), section, version, roff(name), roff(title))
    for heading, body in parts:
        if body:
            text += '.SH %s\n.nf\n%s\n.fi\n' % (heading, roff(body))
    return text


def titles():
    with open('docs/reference.md') as f:
        rows = re.findall(r'^\| `(rg_\w+)` \| ([^|]*) \| ([^|]*) \|$', f.read(), re.M)
    return {name: (who.strip(), re.sub(r'[`*]', '', what).strip()) for name, who, what in rows}


def functions(header):
    """The header's own comment, and for each function its prototype and its comment, which is the
    last one before it. Functions that follow one another without a comment between share it."""
    with open(header) as f:
        text = f.read()
    whole = plain(re.match(r'/\*.*?\*/', text, re.S).group())
    comment = ''
    found = {}
    for token in re.finditer(r'/\*.*?\*/|^RG_API\b[^;]*;|^typedef\b|\n\n', text, re.S | re.M):
        word = token.group()
        if word.startswith('/*'):
            comment = plain(word).strip('- ')  # a heading is the comment of functions without one
        elif word.startswith('RG_API'):
            name = re.search(r'\b(rg_\w+)\(', word).group(1)
            found[name] = (re.sub(r'^RG_API\s+(RG_PRINTF_2_3\s+)?', '', word), comment)
    return whole, found


def names(top, programs):
    """All pages, as paths in FOLDER; top is the top of the source tree."""
    pages = [name for header in sorted(glob.glob(top + '/include/regroup/*.h'))
             for name in functions(header)[1]]
    return (['man3/%s.3' % name for name in pages] +
            ['man1/%s.1' % os.path.basename(program) for program in programs])


def write(folder, section, name, text):
    path = '%s/man%d/%s.%d' % (folder, section, name, section)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)


def main(folder, version, *programs):
    known = titles()
    for header in sorted(glob.glob('include/regroup/*.h')):
        whole, found = functions(header)
        include = '#include <regroup/%s>' % os.path.basename(header)
        for name, (prototype, comment) in found.items():
            who, title = known.get(name, ('', 'a function of Regroup'))
            write(folder, 3, name, page(name, 3, version, title, [
                ('SYNOPSIS', include + '\n\n' + prototype), ('CALLED BY', who),
                ('DESCRIPTION', comment), ('NOTES FOR ALL FUNCTIONS OF THIS HEADER', whole),
                ('SEE ALSO', 'the other functions of ' + include)]))
    for program in programs:
        name = os.path.basename(program)
        said = subprocess.run([program, '--help'], capture_output=True, text=True, timeout=20)
        if said.returncode:
            sys.exit('%s --help failed: %s' % (program, said.stderr))
        write(folder, 1, name, page(name, 1, version, TITLES.get(name, 'a program of Regroup'),
                                    [('SYNOPSIS', said.stdout), ('SEE ALSO', 'docs/guide.md')]))


if __name__ == '__main__':
    main(*sys.argv[1:])

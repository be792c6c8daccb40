#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Manual pages, made from what there is: make_pages.py FOLDER VERSION [PROGRAM ...]

Section 3 has a page for each function: its line of docs/reference.md, its prototype and comment
in the public header, and the header's own comment, which holds for all of its functions. Section
1 has a page for each PROGRAM, made of what it says to --help.
"""
import glob
import os
import re
import subprocess
import sys

TITLES = {
    'regroup-bench': "measures groups, collectives, messages and arrays beside MPI's own",
    'regroup-info': 'shows version, MPI library and options',
    'regroup-mcmc': 'Markov chains that balance their load by regrouping',
    'regroup-run': 'starts a job that survives the death of its processes',
    'regroup-simulate': 'plays load balancing through, up to a million ranks',
    'regroup-topo': "draws a machine's hierarchy with the ranks in it",
}



def roff(text):
    """Text as it is, for a block without filling."""
    text = text.replace('\\', '\\e').replace('-', '\\-')
    text = ''.join(c if ord(c) < 128 else '\\[u%04X]' % ord(c) for c in text)
    return '\n'.join('\\&' + line if line[:1] in ".'" else line for line in text.split('\n'))


def plain(comment):
    """A comment's text, without its frame and the lines on licence and authors."""
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
    """The header's own comment, and for each function its prototype and its comment: the last
    one before it. Functions that follow one another without a line between share it."""
    with open(header) as f:
        text = f.read()
    whole = plain(re.match(r'/\*.*?\*/', text, re.S).group())
    comment = ''
    found = {}
    for token in re.finditer(r'/\*.*?\*/|^RG_API\b[^;]*;|^typedef\b|\n\n', text, re.S | re.M):
        word = token.group()
        if word.startswith('/*'):
            comment = plain(word).strip('- ')  # a heading serves what has no more below it
        elif word.startswith('RG_API'):
            name = re.search(r'\b(rg_\w+)\(', word).group(1)
            found[name] = (re.sub(r'^RG_API\s+', '', word), comment)
    return whole, found


def names(top, programs):
    """All pages, as paths in FOLDER; top: of the source tree."""
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
                ('SYNOPSIS', include + '\n\n' + prototype), ('WHO CALLS', who),
                ('DESCRIPTION', comment), ('WHAT HOLDS FOR ALL OF THIS HEADER', whole),
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

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Writes from the table of Global Arrays' functions: ga.h and ga-mpi.h, which programs include; ga_core.h,
which declares what the room's files define; ga_forms.c, the functions that programs call.

usage: write_c.py FOLDER
"""
import sys

import signatures

TYPES = {'handle': 'int', 'int': 'int', 'char': 'char', 'long': 'long', 'size': 'size_t', 'float': 'float',
         'double': 'double', 'scomplex': 'SingleComplex', 'dcomplex': 'DoubleComplex', 'buffer': 'void *',
         'scalar': 'void *', 'text': 'char *', 'request': 'ga_nbhdl_t *', 'pointer': 'void *',
         'address': 'void *', 'file': 'FILE *', 'argc': 'int *', 'argv': 'char ***', 'comm': 'MPI_Comm',
         'longlong': 'long long', 'logical': 'int', 'differs': 'int', 'made': 'int', 'found': 'int', 'pieces': 'int',
         'string': 'char *', 'void': 'void'}
LISTS = {'ints': 'int', 'doubles': 'double', 'floats': 'float', 'longs': 'long', 'longlongs': 'long long',
         'scomplexes': 'SingleComplex', 'dcomplexes': 'DoubleComplex'}
# Arrays of indices with a known number of entries, and those whose number is found by a function.
SHORT = ['at', 'extents', 'place', 'ld']
LONG = ['map', 'regions', 'flat', 'subscripts']
FUNCTIONS = {'ext_alloc': 'void *(*ext_alloc)(size_t, int, char *)', 'ext_free': 'void (*ext_free)(void *)'}
# Results that Global Arrays gives C in the order of Fortran.
TURNED = ['Proc_topology']
HEAD = '/* Written from the table arrays/ga/signatures of Regroup. */\n'


def joined(kind, name):
    return kind + ('' if kind.endswith('*') else ' ') + name


def declared(argument, index):
    """The words that declare an argument of a form whose indices have the type `index`."""
    kind, result, name, length = argument
    if kind == 'function':
        return FUNCTIONS[name]
    if kind == 'patch':
        return ', '.join('%s %s' % (index, n) for n in length.split())
    if kind in SHORT + LONG:
        return '%s %s%s[]' % (index, '*' if kind == 'subscripts' else '', name)
    if kind in LISTS:
        return '%s %s[]' % (LISTS[kind], name)
    if kind == 'widehandle':
        return '%s %s' % (index, name)
    if kind in ['wide', 'index']:
        return '%s %s%s' % (index, '*' * result, name)
    return joined(TYPES[kind] + ' *' * (result and kind == 'int'), name)


def declared_in_core(argument):
    kind, result, name, length = argument
    const = '' if result else 'const '
    if kind == 'function':
        return FUNCTIONS[name]
    if kind == 'patch':
        return 'const int64_t lo_%s[], const int64_t hi_%s[]' % (name, name)
    if kind in SHORT + LONG:
        return '%sint64_t %s[]' % (const, name)
    if kind in LISTS:
        return '%s%s %s[]' % (const, LISTS[kind], name)
    if kind == 'widehandle':
        return 'int ' + name
    if kind in ['wide', 'index']:
        return 'int64_t %s%s' % ('*' * result, name)
    if kind in ['buffer', 'scalar', 'text']:
        return joined(const + TYPES[kind], name)
    return joined(TYPES[kind] + ' *' * (result and kind == 'int'), name)


def core_name(function):
    return 'rgi_ga_' + function.name.lower()


def prototype(result, name, words):
    return '%s(%s)' % (joined(TYPES[result], name), ', '.join(words) or 'void')


def form(function, which):
    """The prototype of one form."""
    wide = which.endswith('64')
    index = 'int64_t' if wide else 'int'
    return prototype(function.result, which.replace('64', '') + '_' + function.name + '64' * wide,
                     [declared(a, index) for a in function.arguments])


def count(argument, arguments):
    """The number of entries of an array of indices."""
    length = argument.length
    dims = 'rgi_ga_clamped(ndim)' if length == 'ndim' else 'rgi_ga_handle_dims(%s)' % length
    if argument.kind in SHORT:
        return dims + ' - 1' * (argument.kind == 'ld')
    first = next(a.name for a in arguments if a.kind == 'handle') if arguments[0].kind == 'handle' else None
    dims = 'rgi_ga_handle_dims(%s)' % first if first else 'rgi_ga_clamped(ndim)'
    if argument.kind == 'map':
        return 'rgi_ga_total(%s, %s_wide)' % (dims, length)
    if argument.kind == 'regions':
        return '2 * %s * rgi_ga_locate_nnodes(%s, %s_wide, %s_wide)' % (dims, first, *length.split())
    return 'n * %s' % dims


def body(function, wide):
    """The statements of a form: before the call of the core, its arguments, and after it."""
    before, given, after = [], [], []
    # A map's length is the sum of an array that may stand behind it.
    for a in sorted(function.arguments, key=lambda a: a.kind in LONG):
        if a.kind == 'patch':
            l1, h1, l2, h2 = a.length.split()
            before.append('const int64_t lo_%s[2] = {%s, %s}, hi_%s[2] = {%s, %s};' % (
                a.name, l1, l2, a.name, h1, h2))
        elif a.kind in SHORT and not wide:
            before.append('int64_t %s_room[GA_MAX_DIM];' % a.name)
            if a.result:
                before.append('int64_t *%s_wide = %s ? %s_room : NULL;' % (a.name, a.name, a.name))
                after.append('rgi_ga_narrowed%s(%s, %s_wide, %s);' % (
                    '_back' * (function.name in TURNED), count(a, function.arguments), a.name, a.name))
            else:
                before.append('const int64_t *%s_wide = rgi_ga_widened(%s, %s, %s_room);' % (
                    a.name, count(a, function.arguments), a.name, a.name))
        elif a.kind in LONG and not (wide and a.kind != 'subscripts'):
            before.append('int64_t %s_n = %s;' % (a.name, count(a, function.arguments).replace(
                '_wide', '' if wide else '_wide')))
            before.append('int64_t %s_room[RGI_GA_ROOM] = {0}, *%s_wide = rgi_ga_room_for(%s_n, %s_room);' % (
                (a.name,) * 4))
            if a.result:
                after.append('rgi_ga_narrowed(%s_n, %s_wide, %s);' % ((a.name,) * 3))
            elif a.kind == 'subscripts':
                before.append('%s(n, rgi_ga_handle_dims(g_a), %s, %s_wide);' % (
                    'rgi_ga_flattened64' if wide else 'rgi_ga_flattened', a.name, a.name))
            else:
                before.append('rgi_ga_widened(%s_n, %s, %s_wide);' % ((a.name,) * 3))
            after.append('if (%s_wide != %s_room)\n    free(%s_wide);' % ((a.name,) * 3))
        elif a.kind == 'wide' and a.result and not wide:
            before.append('int64_t %s_wide = *%s;' % (a.name, a.name))
            after.append('*%s = (int)%s_wide;' % (a.name, a.name))
    for a in function.arguments:
        if a.kind == 'patch':
            given.append('lo_%s, hi_%s' % (a.name, a.name))
        elif a.kind == 'subscripts' or (a.kind in SHORT + LONG and not wide):
            given.append(a.name + '_wide')
        elif a.kind == 'wide' and a.result and not wide:
            given.append('&%s_wide' % a.name)
        else:
            given.append(('(int)' if a.kind == 'widehandle' else '') + a.name)
    call = '!' * (function.result == 'differs') + '%s(%s)' % (core_name(function), ', '.join(given))
    if not after:
        return before + [('return ' if function.result != 'void' else '') + call + ';']
    if function.result == 'void':
        return before + [call + ';'] + after
    return before + ['%s = %s;' % (joined(TYPES[function.result], 'value'), call)] + after + ['return value;']


def needs_mpi(function):
    return function.result == 'comm' or any(a.kind == 'comm' for a in function.arguments)


def header(rows, guard, includes, more=''):
    lines = [form(r, which) + ';' for r in rows for which in r.forms]
    return '\n'.join([HEAD + '#ifndef ' + guard, '#define ' + guard, '', *('#include ' + i for i in includes), '',
                      more + '#ifdef __cplusplus', 'extern "C" {', '#endif', '', *lines, '',
                      '#ifdef __cplusplus', '}', '#endif', '#endif', ''])


def core(rows):
    seen = {}
    for r in rows:
        seen.setdefault(core_name(r), prototype(r.result, core_name(r), map(declared_in_core, r.arguments)) + ';')
    return '\n'.join([HEAD + '#ifndef RGI_GA_CORE_H', '#define RGI_GA_CORE_H', '', '#include <ga-mpi.h>',
                      '#include <ga.h>', '', *seen.values(), '', '#endif', ''])


def forms(rows):
    lines = [HEAD + '#pragma GCC visibility push(default)', '#include <ga-mpi.h>', '#include <ga.h>',
             '#pragma GCC visibility pop', '', '#include "ga/ga_convert.h"', '#include "ga/ga_handle.h"',
             '#include "ga_core.h"', '']
    for r in rows:
        for which in r.forms:
            lines += [form(r, which) + ' {', *('  ' + s for s in body(r, which.endswith('64'))), '}', '']
    return '\n'.join(lines)


def names(rows):
    first = {core_name(r): r.forms[0].replace('64', '') + '_' + r.name for r in rows if r.forms}
    return HEAD + 'static const char *const rgi_ga_names[] = {\n%s};\n' % ''.join(
        '    "%s",\n' % n for n in first.values())


def main():
    rows = signatures.read()
    folder = sys.argv[1]
    texts = {
        'ga.h': header([r for r in rows if not needs_mpi(r)], 'RG_GA_H',
                       ['<stddef.h>', '<stdint.h>', '<stdio.h>', '"gacommon.h"', '"typesf2c.h"'],
                       'typedef long ga_nbhdl_t;\n\n'),
        'ga-mpi.h': header([r for r in rows if needs_mpi(r)], 'RG_GA_MPI_H', ['<mpi.h>']),
        'ga_core.h': core(rows), 'ga_forms.c': forms(rows), 'ga_names.h': names(rows)}
    for name, text in texts.items():
        with open('%s/%s' % (folder, name), 'w') as f:
            f.write(text)


if __name__ == '__main__':
    main()

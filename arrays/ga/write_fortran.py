#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Writes the functions that Fortran programs call, and their types: from arrays/ga/signatures
fortran_forms.c and
global.fh in the folder that is named."""
import re
import sys

import signatures

# Fortran's types of functions. Others are subroutines.
TYPES = {'int': 'integer', 'long': 'integer', 'size': 'integer', 'logical': 'logical', 'differs': 'logical', 'made': 'logical',
         'found': 'logical', 'pieces': 'logical', 'float': 'real', 'double': 'double precision',
         'scomplex': 'complex', 'dcomplex': 'double complex'}
C_TYPES = {'integer': 'Integer', 'logical': 'Integer', 'real': 'float', 'double precision': 'double',
           'complex': 'SingleComplex', 'double complex': 'DoubleComplex', None: 'void'}
VALUES = {'float': 'float', 'double': 'double', 'scomplex': 'SingleComplex', 'dcomplex': 'DoubleComplex'}
NUMBERS = {'handle': 'int', 'widehandle': 'int', 'int': 'int', 'long': 'long', 'size': 'size_t', 'wide': 'int64_t'}
WORDS = {'ints': 'int', 'longs': 'long', 'doubles': 'double', 'floats': 'float', 'scomplexes': 'SingleComplex',
         'dcomplexes': 'DoubleComplex'}
# What global.fh does not declare: programs do it themselves.
UNDECLARED = re.compile(r'ga_idot_patch|n?ga_(locate_nnodes|pgroup_duplicate|pgroup_self|set_ghost_info|update(44|55)_ghosts)')
FORM = re.compile(r'(n?ga)(2?)(?:=(\w+))?(?:@(\w+))?')


class Form:
    """One Fortran name of a row: its parameters, what stands before (late: after all sizes) and after the
    call, and what the call is given."""

    def __init__(self, row, text):
        prefix, two, name, self.mark = FORM.fullmatch(text).groups()
        self.row, self.two = row, bool(two)
        self.name = '%s_%s' % (prefix, (name or row.name).lower())
        self.parameters, self.lengths, self.before, self.late, self.after, self.given = [], [], [], [], [], []
        self.result = 'logical' if self.mark == 'logical' else TYPES.get(row.result)

    def integer(self, *names):
        self.parameters += ['Integer *' + n for n in names]

    def dimensions(self, length):
        """In C, how many dimensions an array of indices has."""
        if self.two:
            return '2'
        if any(a.name == length and a.kind in ('handle', 'widehandle') for a in self.row.arguments):
            return '%s_dims' % length
        return 'ndim_' if length == 'ndim' else '%s_dims' % self.first_handle()

    def first_handle(self):
        return next(a.name for a in self.row.arguments if a.kind == 'handle')

    # What one argument becomes. Each adds parameters and what the call is given.

    def handle(self, a):
        self.integer(a.name)
        if self.asks(a):
            self.before.append('int %s_dims = rgi_fortran_dims((int)*%s);' % (a.name, a.name))
        self.given.append('(int)*' + a.name)

    def asks(self, a):
        """Whether the number of dimensions of the array is needed."""
        return not self.two and any(
            b.length == a.name or a.name == self.first_handle() and b.kind in ('map', 'subscripts')
            for b in self.row.arguments)

    widehandle = handle

    def number(self, a):
        if a.name == 'ndim' and self.two:
            if a.result:
                self.before.append('int ndim_ = 2;')
            self.given.append('&ndim_' if a.result else '2')
            return
        self.integer(a.name)
        if a.result:
            kind = NUMBERS[a.kind]
            self.before.append('%s %s_ = 0;' % (kind, a.name))
            self.after.append('*%s = (Integer)%s_;' % (a.name, a.name))
            self.given.append('&%s_' % a.name)
        elif a.name == 'ndim':
            self.before.append('int ndim_ = rgi_fortran_count(*ndim);')
            self.given.append('(int)*ndim')
        else:
            self.given.append('(%s)*%s' % (NUMBERS.get(a.kind, 'int'), a.name))

    int = long = size = wide = number

    def tag(self, a):
        self.integer(a.name)
        self.before.append('(void)%s;' % a.name)

    def dimension(self, a):
        self.integer(a.name)
        self.given.append('(int)*%s - 1' % a.name)

    def type(self, a):
        self.integer(a.name)
        if a.result:
            self.before.append('int %s_ = 0;' % a.name)
            self.after.append('*%s = rgi_fortran_type_out(%s_);' % (a.name, a.name))
            self.given.append('&%s_' % a.name)
        else:
            self.given.append('rgi_fortran_type_in(*%s)' % a.name)

    def index(self, a):
        self.integer(a.name)
        self.given.append('(int64_t)*%s - 1' % a.name)

    def value(self, a):
        self.parameters.append('%s *%s' % (VALUES[a.kind], a.name))
        self.given.append('*' + a.name)

    float = double = scomplex = dcomplex = value

    def char(self, a):
        self.parameters.append('const char *' + a.name)
        self.lengths.append('size_t %s_length' % a.name)
        self.before.append('(void)%s_length;' % a.name)
        self.given.append('*' + a.name)

    def text(self, a):
        self.parameters.append('const char *' + a.name)
        self.lengths.append('size_t %s_length' % a.name)
        self.before.append('char %s_[RGI_FORTRAN_TEXT];' % a.name)
        self.before.append('rgi_fortran_text(%s, %s_length, %s_);' % (a.name, a.name, a.name))
        self.given.append(a.name + '_')

    def buffer(self, a):
        self.parameters.append('%s *%s' % ('void' if a.result else 'const void', a.name))
        self.given.append(a.name)

    scalar = buffer

    def request(self, a):
        self.integer(a.name)
        self.before.append('ga_nbhdl_t %s_ = rgi_fortran_request_in(*%s);' % (a.name, a.name))
        self.after.append('*%s = rgi_fortran_request_out(*%s, %s_);' % ((a.name,) * 3))
        self.given.append('&%s_' % a.name)

    def pointer(self, a):
        self.parameters.append('long *' + a.name)
        self.before.append('void *%s_ = NULL;' % a.name)
        self.after.append('*%s = rgi_fortran_index("%s", (int)*%s, %s_);' % (
            a.name, self.name, self.first_handle(), a.name))
        self.given.append('&%s_' % a.name)

    def words(self, a):
        """An array of numbers: of Fortran's integers a copy of type int."""
        kind = WORDS[a.kind]
        integers = a.kind == 'longs' or (a.kind == 'ints' and self.mark == 'i4')
        if a.kind != 'ints' or integers:
            self.parameters.append('%s%s *%s' % ('' if a.result else 'const ', 'Integer' if integers else kind, a.name))
            self.given.append(a.name)
            return
        self.integer(a.name)
        self.before.append('int *%s_ = rgi_fortran_ints(%s, *%s);' % (a.name, a.name, a.length))
        if a.result:
            self.after.append('for (Integer i_ = 0; i_ < *%s; i_++)\n    %s[i_] = %s_[i_];' % (a.length, a.name, a.name))
        self.after.append('free(%s_);' % a.name)
        self.given.append(a.name + '_')

    ints = longs = doubles = floats = scomplexes = dcomplexes = words

    # Arrays of an element for each dimension: how many there are, and what Fortran's numbers have more.

    def reversed(self, a, names, count, more):
        """names: one parameter, or one for each dimension of two."""
        self.before.append('int64_t %s_[GA_MAX_DIM] = {0};' % a.name)
        self.integer(*names)
        if len(names) == 2:
            order = list(enumerate(reversed(names)))
            into = ['%s_[%d] = (int64_t)*%s - %d;' % (a.name, i, n, more) for i, n in order]
            out = ['*%s = (Integer)%s_[%d] + %d;' % (n, a.name, i, more) for i, n in order]
        else:
            into = ['rgi_fortran_in(%s, %s, %d, %s_);' % (count, names[0], more, a.name)]
            out = ['rgi_fortran_out(%s, %s_, %d, %s);' % (count, a.name, more, names[0])]
        if a.result:
            self.after += out
        else:
            self.before += into
        self.given.append(a.name + '_')

    def at(self, a):
        names = [a.name]
        if self.two:
            names = ['%s_%s' % (a.name, letter) for letter in 'ij']
        self.reversed(a, names, self.dimensions(a.length), 1)

    def extents(self, a):
        names = [a.name]
        if self.two and a.kind != 'ld':
            names = [a.name + '_1', a.name + '_2']
        self.reversed(a, names, self.dimensions(a.length), 0)

    place = extents

    def ld(self, a):
        count = 'rgi_fortran_lds(%s)' % self.dimensions(a.length)
        self.reversed(a, [a.name], count, 0)

    def patch(self, a):
        lo = a._replace(name=a.name + '_lo')
        hi = a._replace(name=a.name + '_hi')
        names = a.length.split()
        self.reversed(lo, names[::2], '2', 1)
        self.reversed(hi, names[1::2], '2', 1)
        order = [self.parameters.pop() for _ in names][::-1]  # the bounds of a dimension together
        self.parameters += [order[0], order[2], order[1], order[3]]

    def map(self, a):
        dims = self.dimensions(next(b for b in self.row.arguments if b.name == a.length).length)
        if self.two:
            names = [a.name + '_1', a.name + '_2']
            self.integer(*names)
            self.late.append('const Integer *%s_parts[] = {%s};' % (a.name, ', '.join(names)))
        else:
            self.integer(a.name)
            self.late.append('const Integer *%s_parts[GA_MAX_DIM];' % a.name)
            self.late.append('rgi_fortran_parts(%s, %s, %s_, %s_parts);' % (dims, a.name, a.length, a.name))
        self.late.append('int64_t *%s_ = rgi_fortran_map(%s, %s_parts, %s_);' % (a.name, dims, a.name, a.length))
        self.after.append('free(%s_);' % a.name)
        self.given.append(a.name + '_')

    def subscripts(self, a):
        names = [a.name + '_i', a.name + '_j'] if self.two else [a.name]
        self.integer(*names)
        self.before.append('int64_t *%s_ = rgi_fortran_%s(%s);' % (a.name, *(
            ('pairs', '*%s, %s, %s' % (a.length, *names)) if self.two else
            ('subscripts', '%s_dims, *%s, %s' % (self.first_handle(), a.length, a.name)))))
        self.after.append('free(%s_);' % a.name)
        self.given.append(a.name + '_')

    # The whole function.

    def in_order(self):
        """Fortran's order of the parameters. A map comes before the sizes that it is divided by."""
        parts = []
        for a in self.row.arguments:
            before = len(self.parameters)
            getattr(self, a.kind)(a)
            parts.append([a, self.parameters[before:]])
        for i, (a, _) in enumerate(parts[:-1]):
            if parts[i + 1][0].kind == 'map' and parts[i + 1][0].length == a.name:
                parts[i], parts[i + 1] = parts[i + 1], parts[i]
                if self.two:  # a dimension's map, then its size
                    (m, maps), (b, sizes) = parts[i], parts[i + 1]
                    parts[i:i + 2] = [[m, [maps[0], sizes[0]]], [b, [maps[1], sizes[1]]]]
                break
        if self.two:
            self.join_bounds(parts)
        return [p for _, names in parts for p in names]

    @staticmethod
    def join_bounds(parts):
        """lo and hi of two dimensions: ilo, ihi, jlo, jhi."""
        for (a, lo), (b, hi) in zip(parts, parts[1:]):
            if a.kind == b.kind == 'at' and b.name.endswith('hi'):
                lo[:], hi[:] = [lo[0], hi[0]], [lo[1], hi[1]]

    def product(self):
        """Fortran's product is that of the transposed operands in C's order: the second one first."""
        names = [a.name for a in self.row.arguments for _ in range(2 if a.kind == 'patch' else 1)]
        given = dict(zip(range(len(names)), self.given))
        pairs = [('ta', 'tb'), ('transa', 'transb'), ('m', 'n'), ('g_a', 'g_b'), ('alo', 'blo'), ('ahi', 'bhi')]
        for x, y in pairs:
            if x in names:
                i, j = names.index(x), names.index(y)
                given[i], given[j] = given[j], given[i]
        if 'a' in names:
            i, j = names.index('a'), names.index('b')
            for k in range(2):
                given[i + k], given[j + k] = given[j + k], given[i + k]
        self.given = [given[i] for i in range(len(names))]

    def call(self):
        """The call, and what is done with its result."""
        call = 'rgi_ga_%s(%s)' % (self.row.name.lower(), ', '.join(self.given))
        kind = self.row.result
        if kind in ('made', 'found', 'pieces'):
            self.parameters.insert(1 if self.mark == 'second' else len(self.parameters), 'Integer *result')
            wrong = {'made': '!= 0', 'found': '>= 0', 'pieces': '> 0'}[kind]
            self.after += ['*result = (Integer)result_;', 'return result_ %s;' % wrong]
            return 'int result_ = %s;' % call
        if kind == 'string':
            self.parameters.append('char *result')
            self.lengths.append('size_t result_length')
            return 'rgi_fortran_string(%s, result, result_length);' % call
        if kind == 'comm':
            self.parameters.insert(0, 'Integer *result')
            return '*result = (Integer)MPI_Comm_c2f(%s);' % call
        if self.mark == 'logical' and kind == 'void':
            self.after.append('return 1;')
            return call + ';'
        if not self.result:
            return call + ';'
        text = {'logical': '(Integer)(%s != 0)', 'integer': '(Integer)%s'}.get(self.result, '%s') % call
        if not self.after:
            return 'return %s;' % text
        self.after.append('return result_;')
        return '%s result_ = %s;' % (C_TYPES[self.result], text)

    def function(self):
        self.parameters = self.in_order()
        if self.mark == 'product':
            self.product()
        call = self.call()
        head = '%s %s_(%s)' % (C_TYPES[self.result], self.name, ', '.join(self.parameters + self.lengths) or 'void')
        lines = [*self.before, *self.late, call, *self.after]
        text = 'RG_API %s;\n%s {\n%s}\n' % (head, head, ''.join('  %s\n' % line for line in lines))
        if self.mark in ('i4', 'i8'):
            return '#if%s REGROUP_GA_I4\n%s#endif\n' % ({'i4': 'def', 'i8': 'ndef'}[self.mark], text)
        return text


def forms():
    return [Form(row, text) for row in signatures.read(fortran=True) for text in row.fortran]


def functions(f):
    f.write('/* Written by arrays/ga/write_fortran.py from arrays/ga/signatures. */\n#include "ga/fortran.h"\n\n')
    for form in forms():
        if form.mark != 'own':
            f.write('\n' + form.function())


def header(f):
    """Types of functions; external, so that a compiler takes no name for a variable."""
    f.write('! Written by arrays/ga/write_fortran.py: Global Arrays\' functions, for Fortran.\n'
            '#include "gacommon.h"\n#define GA_ACCESS_INDEX_TYPE integer*8\n'
            '      integer ga_max_dim\n      parameter (ga_max_dim = GA_MAX_DIM)\n')
    known = {}
    for form in forms():
        if form.result and not UNDECLARED.fullmatch(form.name):
            known[form.name] = form.result
    for name, kind in sorted(known.items()):
        f.write('      %s %s\n      external %s\n' % (kind, name, name))


if __name__ == '__main__':
    for name, write in [('fortran_forms.c', functions), ('global.fh', header)]:
        with open('%s/%s' % (sys.argv[1], name), 'w') as out:
            write(out)

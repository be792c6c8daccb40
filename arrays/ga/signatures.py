# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Reads the table of Global Arrays' functions: arrays/ga/signatures."""
import collections
import os
import re

# forms: of 'GA', 'NGA', 'GA64', 'NGA64'; fortran: of 'ga', 'nga'.
Function = collections.namedtuple('Function', 'result name arguments forms fortran')
# length: what stands in the brackets, '' if there are none.
Argument = collections.namedtuple('Argument', 'kind result name length')

# Kinds that are others in C; an argument that C has not got is left out.
C_KINDS = {'type': 'int', 'dimension': 'int', 'tag': None}


def argument(text):
    kind, result, name, length = re.fullmatch(r'(\w+)(!?) (\w+)(?:\[([\w ]*)\])?', text).groups()
    return Argument(kind, bool(result), name, length or '')


def for_c(arguments):
    known = [a._replace(kind=C_KINDS.get(a.kind, a.kind)) for a in arguments]
    return [a for a in known if a.kind]


def read(fortran=False):
    """The rows of the table, with the kinds of C, or with those of Fortran."""
    rows = []
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'signatures')) as f:
        for line in f:
            if line.strip() and line[0] != '#':
                result, name, inner, forms, names = re.fullmatch(
                    r'(\w+) (\w+)\((.*)\) :(.*):(.*)', line.strip()).groups()
                arguments = [argument(a) for a in inner.split(', ') if a]
                rows.append(Function(result, name, arguments if fortran else for_c(arguments),
                                     forms.split(), names.split()))
    return rows

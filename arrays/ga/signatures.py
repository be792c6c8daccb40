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


def argument(text):
    kind, result, name, length = re.fullmatch(r'(\w+)(!?) (\w+)(?:\[([\w ]*)\])?', text).groups()
    return Argument(kind, bool(result), name, length or '')


def read(path=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'signatures')):
    """The rows of the table."""
    rows = []
    with open(path) as f:
        for line in f:
            if line.strip() and line[0] != '#':
                result, name, inner, forms, fortran = re.fullmatch(
                    r'(\w+) (\w+)\((.*)\) :(.*):(.*)', line.strip()).groups()
                rows.append(Function(result, name, [argument(a) for a in inner.split(', ') if a],
                                     forms.split(), fortran.split()))
    return rows

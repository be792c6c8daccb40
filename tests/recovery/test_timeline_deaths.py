#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A timeline of several balancers in which ranks have died: the dead have rows, blank up to a cross,
and the frames of their groups are there. The page is well-formed, loads nothing, and has the whole
picture. See drawn.c.

time: 120
"""
import json
import os
import re
import tempfile
import xml.etree.ElementTree as ET

import jobs

SVG = '{http://www.w3.org/2000/svg}'
HTML = '{http://www.w3.org/1999/xhtml}'
NP = 8


def draw(folder, dead, where):
    name = os.path.join(folder, 'drawn')
    status, text = jobs.run(NP, 'tests/drawn', name, ','.join(map(str, dead)), where=where)
    assert status == 0, (dead, status, text)
    with open(name + '.json') as f:
        data = json.load(f)
    with open(name + '.svg') as f:
        svg = f.read()
    with open(name + '.html') as f:
        html = f.read()
    return data, svg, html


def check_data(data, dead):
    """Rows are world ranks; spans of the living follow one another; the dead have none, but a death."""
    assert data['ranks'] == NP and data['rows'] == list(range(NP)), data['rows']
    assert [row for row, when in data['deaths']] == dead, data['deaths']
    assert all(0 < when < data['seconds'] for row, when in data['deaths']), data['deaths']
    assert min(s[2] for s in data['spans']) == 0
    for row in range(NP):
        spans = [s for s in data['spans'] if s[0] == row]
        assert (not spans) == (row in dead), (row, spans)
        assert all(a[3] == b[2] and a[5] <= b[5] for a, b in zip(spans, spans[1:])), spans
        keys = [s[4] for s in spans if s[1] == 'work']
        half = range(100, 102) if row >= NP // 2 else range(2)
        assert {k for k in keys if k < 200} <= set(half), (row, keys)
        first, size = [(s[6], s[7]) for s in spans if s[1] == 'work'][:1][0] if keys else (row, 1)
        assert first <= row < first + size, (row, first, size)


def check_picture(svg, dead):
    root = ET.fromstring(svg)
    titles = [t.text for t in root.iter(SVG + 'title')]
    for rank in dead:
        assert 'what rank %d did is lost' % rank in titles
        assert any(re.fullmatch(r'rank %d died at [\d.]+ s' % rank, t) for t in titles), titles
    assert len([t for t in titles if ' died at ' in t]) == len(dead)
    # The first groups of two: their frames are drawn also where the first or second member is dead.
    tops = {(round(float(e.get('y'))), round(float(e.get('height')))) for e in root.iter(SVG + 'rect')
            if e.get('fill') == 'none' and e.get('stroke-width') == '1.5'}
    for pair in range(NP // 2):
        if not {2 * pair, 2 * pair + 1} <= set(dead):
            assert (84 + 2 * pair * 26, 52) in tops, (pair, dead, tops)


def check_page(html, svg):
    assert html.startswith('<!DOCTYPE html>\n')
    root = ET.fromstring(html)
    assert root.tag == HTML + 'html'
    script, = root.iter(HTML + 'script')
    assert not script.attrib and 'viewBox' in script.text
    for e in root.iter():
        for name, value in e.attrib.items():
            assert name.split('}')[-1] not in ('src', 'href', 'srcset', 'data', 'action'), (e, name)
            assert 'url(' not in value or value.startswith('url(#'), value
    addresses = set(re.findall(r'\w+://[^\'" ]+', html))
    assert addresses == {'http://www.w3.org/2000/svg', 'http://www.w3.org/1999/xhtml'}, addresses
    ids = {e.get('id') for e in root.iter() if e.get('id')}
    named = set(re.findall(r"getElementById\('(\w+)'\)", script.text))
    assert named and named <= ids, (named, ids)
    picture = ET.fromstring(svg)
    walkers = [e.get('data-walker') for e in picture.iter(SVG + 'g') if e.get('class') == 'walker']
    assert len(walkers) == len(set(walkers)) > 4
    assert walkers == [e.get('data-walker') for e in root.iter(SVG + 'g') if e.get('class') == 'walker']
    drawn = {e.get('class') for e in root.iter(SVG + 'g') if e.get('class')} - {'walker'}
    assert drawn == set(walkers), (drawn, walkers)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for dead, where in [([], jobs.ONE), ([3], jobs.ONE), ([0, 5], jobs.ONE), ([2], jobs.TWO)]:
            data, svg, html = draw(folder, dead, where)
            check_data(data, dead)
            check_picture(svg, dead)
            check_page(html, svg)


main()

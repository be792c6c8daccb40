#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""At 32 ranks the synchronous rules give exactly the published numbers of regroupings, and
the default walkers are those of the published benchmark.

tier: all
time: 300
beside: yes
"""
from mcmc import checksum, result

PUBLISHED = {16: (5.375, 2, 8), 64: (3.75, 2, 5), 128: (2.625, 2, 3)}
# One fiftieth of the samples in one fiftieth of the units: 0, 40, ... 280 units as ever.
SMALL = ['--samples', 200, '--unit', 20]
EXPECTED = checksum(1, range(0, 32, 4), 200)


def check(*args):
    r = result(32, *SMALL, *args)
    assert (r['checksum'], r['walkers'], r['samples']) == (EXPECTED, 8, 112 * 200), r
    assert abs(r['baseline_seconds'] - 7 / 50) < 1e-9, r
    assert abs(r['ideal_seconds'] - 3.5 / 50) < 1e-9, r
    assert r['seconds'] >= r['ideal_seconds'], r
    assert abs(r['efficiency'] - r['ideal_seconds'] / r['seconds']) < 1e-6, r
    return r['regroupings']


for interval, (mean, least, most) in PUBLISHED.items():
    g = check('--balance', 'sync', '--interval', interval)
    assert (g['mean'], g['min'], g['max']) == (mean, least, most), (interval, g)
g = check('--balance', 'none')
assert g == {'mean': 1.0, 'sd': 0.0, 'min': 1, 'max': 1}, g
g = check('--balance', 'async')
assert g['min'] >= 1 and g['max'] > 1 and g['sd'] < g['mean'], g

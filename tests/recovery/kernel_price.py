# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""What being able to survive costs without a death: the MCMC kernel with and without RG_SURVIVE,
in turn, and the medians. On a machine at rest:

    python3 tests/recovery/kernel_price.py --build build/release --within 2
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile


def seconds(a, survive):
    env = dict(os.environ, RG_SURVIVE=str(survive), UCX_TLS='tcp,self')
    with tempfile.NamedTemporaryFile() as f:
        subprocess.run([*a.mpiexec.split(), '-n', str(a.np), a.build + '/bin/regroup-mcmc', '--quiet',
                        '--policy', a.policy, '--json', f.name], env=env, check=True)
        return json.load(f)['seconds']


def main():
    p = argparse.ArgumentParser(description='The price of being able to survive.')
    p.add_argument('--build', default='build/release', help='where it was built')
    p.add_argument('--np', type=int, default=32)
    p.add_argument('--policy', default='join-right')
    p.add_argument('--repeat', type=int, default=7)
    p.add_argument('--within', type=float, help='end with status 1 if it is more percent than this')
    p.add_argument('--mpiexec', default='mpiexec.mpich')
    a = p.parse_args()
    times = [[], []]
    for _ in range(a.repeat):
        for survive in 0, 1:
            times[survive].append(seconds(a, survive))
    without, with_ = map(statistics.median, times)
    price = 100 * (with_ / without - 1)
    print('%d ranks, %s, medians of %d runs: %.3f s without RG_SURVIVE, %.3f s with it: %+.2f %%' %
          (a.np, a.policy, a.repeat, without, with_, price))
    sys.exit(a.within is not None and price > a.within)


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A figure over the number of ranks, drawn by gnuplot, for paper.py and scale.py."""
import subprocess

SCRIPT = """
set terminal svg size 900,560 enhanced font 'DejaVu Sans,14' background rgb 'white'
set output '%s'
set title '%s'
set xlabel 'ranks'
set ylabel 'seconds'
set logscale x 2
set yrange [0:%s]
set grid ytics lc rgb '#dddddd'
set key outside right
%s
plot %s
"""


class Figure:
    def __init__(self, title, most='*', more=''):
        """most: where the axis of seconds ends; more: commands of gnuplot's."""
        self.title, self.most, self.more = title, most, more
        self.plots, self.data = [], []

    def add(self, rows, style, title=''):
        """A line or points: rows of ranks and seconds."""
        if rows:
            name = "title '%s'" % title if title else 'notitle'
            self.plots.append("'-' using 1:2 %s %s" % (style, name))
            self.data.append('\n'.join('%g %g' % row for row in rows) + '\ne\n')

    def draw(self, path):
        script = SCRIPT % (path, self.title, self.most, self.more, ', \\\n  '.join(self.plots))
        subprocess.run(['gnuplot'], input=script + ''.join(self.data), text=True, check=True)

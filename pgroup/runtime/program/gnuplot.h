/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What all pictures that gnuplot draws have in common. */
#ifndef RGP_GNUPLOT_H
#define RGP_GNUPLOT_H

#include <stdio.h>

/* Whether a plot could be written to path: gnuplot is there and the file can be
 * opened. path NULL: yes. Returns 1, or 0 after one line on standard error. */
int rgp_gnuplot_possible(const char *program, const char *path);

/* A text as gnuplot reads it between single quotes. */
void rgp_gnuplot_quote(FILE *f, const char *text);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the programs that draw pictures by gnuplot share. */
#ifndef RGP_GNUPLOT_H
#define RGP_GNUPLOT_H

#include <stdio.h>

/* Whether gnuplot is installed and the file can be written; 1 if path is NULL. Returns 1, or 0
 * after one line on standard error. */
int rgp_gnuplot_possible(const char *program, const char *path);

/* Writes a text in single quotes, as gnuplot reads it. */
void rgp_gnuplot_quote(FILE *f, const char *text);

#endif

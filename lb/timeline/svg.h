/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Draws gathered spans as an SVG picture: one row for each rank, coloured by the
 * walker it works for. Self-contained: no script, no font, no link. No MPI. */
#ifndef RGI_TIMELINE_SVG_H
#define RGI_TIMELINE_SVG_H

#include <stdio.h>

#include "timeline.h"

typedef struct {
  const char *title, *subtitle;
  int ranks;
  double seconds; /* when the last walker ended */
  double ideal;   /* drawn as a line; 0: none */
} rgi_picture;

/* Writes the picture to f. spans are in rank order, counts[r] of them rank r's,
 * and each rank's in order of time. Returns 1; or 0 if f could not be written. */
int rgi_timeline_draw(FILE *f, const rgi_picture *p, const rgi_span spans[], const int counts[]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers of a picture: their names, colours and textures, and the legend. */
#ifndef RGI_TIMELINE_LEGEND_H
#define RGI_TIMELINE_LEGEND_H

#include <stdio.h>

#include "timeline/timeline_picture.h"

#define RGI_TIMELINE_REGROUPS "#777"
#define RGI_TIMELINE_WAITS "#c4c4c4"
#define RGI_TIMELINE_DEAD "#999"
#define RGI_TIMELINE_APART "5 3" /* dashes of the frame of ranks that are not neighbours */

typedef struct {
  const rgi_timeline_picture *p;
  int64_t *keys; /* of the walkers, sorted */
  int64_t walkers;
  double left, width; /* of the legend, in pixels */
  int columns, small; /* small: many walkers */
  int apart, dead;    /* whether there are groups of ranks that are not neighbours; dead ranks */
} rgi_timeline_legend;

typedef struct {
  double x, y, width, height;
} rgi_timeline_box;

/* Finds the walkers of all spans. 0: there is no memory. */
int rgi_timeline_legend_open(rgi_timeline_legend *legend, const rgi_timeline_picture *picture,
                             double left, double width);
void rgi_timeline_legend_close(rgi_timeline_legend *legend);

int64_t rgi_timeline_legend_index(const rgi_timeline_legend *legend, int64_t key);
/* Writes the name of a walker; at most `most` bytes of it, if most is not 0. */
void rgi_timeline_legend_name(const rgi_timeline_legend *legend, FILE *file, int64_t key,
                              size_t most);
/* A rectangle in the colour and with the texture of a walker, by its index. */
void rgi_timeline_legend_fill(const rgi_timeline_legend *legend, FILE *file,
                              const rgi_timeline_box *box, int64_t index);

/* The textures, to be written once; and the legend, from y on, which is so high. */
void rgi_timeline_legend_define(FILE *file);
double rgi_timeline_legend_height(const rgi_timeline_legend *legend);
void rgi_timeline_legend_draw(const rgi_timeline_legend *legend, FILE *file, double y);

#endif

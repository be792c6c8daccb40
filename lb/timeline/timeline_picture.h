/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A gathered timeline as it is written: rows, deaths, names. */
#ifndef RGI_TIMELINE_PICTURE_H
#define RGI_TIMELINE_PICTURE_H

#include <regroup/timeline.h>
#include <stdio.h>

typedef struct {
  const char *title, *subtitle; /* never NULL */
  int ranks;                    /* rows */
  double seconds, ideal;
  const rg_span *spans;
  const int64_t *starts, *counts; /* of each row, among the spans */
  const int *rank_of;             /* of each row */
  int64_t deaths;
  const rg_timeline_death *death; /* ranks are rows */
  int64_t walkers;
  const rg_timeline_walker *walker; /* ascending */
  int page;                         /* SVG for a page: it will be zoomed */
} rgi_timeline_picture;

/* Whether the span's group is a block of rows there. */
int rgi_timeline_frames(const rgi_timeline_picture *picture, const rg_span *span);
/* Whether it is a group of several ranks that is no such block. */
int rgi_timeline_is_apart(const rgi_timeline_picture *picture, const rg_span *span);
/* What a walker is called there, or NULL: it has no name of its own. */
const rg_timeline_walker *rgi_timeline_find_walker(const rgi_timeline_picture *picture,
                                                   int64_t key);

/* --- walkers: timeline_legend.c --------------------------------------------------------------- */

/* The walkers of a picture: their names, colours and textures, and the legend. */

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

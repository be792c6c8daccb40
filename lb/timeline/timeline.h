/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The timeline's state, and the formats in which a gathered one is written. */
#ifndef RGI_TIMELINE_H
#define RGI_TIMELINE_H

#include <regroup/timeline.h>
#include <stdio.h>

#include "timeline/timeline_picture.h"

/* A balancer on the timeline: the last of its groups here, as it counts them and as the timeline
 * does. */
typedef struct {
  int64_t formed;
  int32_t group;
} rgi_timeline_part;

struct rg_timeline_s {
  unsigned magic;
  rg_span *spans; /* unused = 1: first is a rank in the library's world; when gathered, a row */
  int64_t count, room;
  int lost; /* there was no memory for a span */
  rgi_timeline_part *parts;
  int part_count;
  int32_t groups;            /* of all parts so far */
  rg_timeline_death *deaths; /* noticed by balancers here: world ranks; rows when gathered */
  int64_t death_count;
  /* When gathered here: */
  int64_t *counts; /* of each rank */
  int ranks, rows;
  int *row_of;  /* of each rank */
  int *rank_of; /* of each row: its rank, of the group or of the world */
};

int rgi_timeline_check(const char *call, rg_timeline timeline);

/* A balancer begins to record here: its number for the two calls below. t may be NULL. Local. */
int rgi_timeline_part_open(rg_timeline timeline);
/* As rg_timeline_mark. span->group counts the part's groups, span->first is a world rank. */
void rgi_timeline_part_mark(rg_timeline timeline, int part, const rg_span *span);
/* A balancer has noticed the death of a rank of the world. */
void rgi_timeline_died(rg_timeline timeline, int world_rank, double when);

/* Write a picture to f. They return 1, or 0 if f could not be written or there is no memory. */
int rgi_timeline_svg(FILE *file, const rgi_timeline_picture *picture);  /* SVG */
int rgi_timeline_html(FILE *file, const rgi_timeline_picture *picture); /* SVG in a page */

#endif

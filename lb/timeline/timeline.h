/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The timeline's state, and the formats in which a gathered one is written. */
#ifndef RGI_TIMELINE_H
#define RGI_TIMELINE_H

#include <regroup/timeline.h>
#include <stdio.h>

struct rg_timeline_s {
  unsigned magic;
  rg_span *spans;
  int64_t count, room;
  int lost;        /* there was no memory for a span */
  int64_t *counts; /* of each rank, when gathered here */
  int ranks;
};

int rgi_timeline_check(const char *call, rg_timeline t);

/* A gathered timeline, for the writers. */
typedef struct {
  const char *title, *subtitle; /* never NULL */
  int ranks;
  double seconds, ideal;
  const rg_span *spans;
  const int64_t *counts;
  int deaths;
  const rg_timeline_death *death;
} rgi_timeline_picture;

/* Write it to f. They return 1, or 0 if f could not be written or there is no memory. */
int rgi_timeline_svg(FILE *f, const rgi_timeline_picture *p);    /* SVG */
int rgi_timeline_chrome(FILE *f, const rgi_timeline_picture *p); /* Chrome trace */
int rgi_timeline_json(FILE *f, const rgi_timeline_picture *p);

#endif

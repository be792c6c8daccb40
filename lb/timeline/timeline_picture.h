/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A gathered timeline as it is written: rows, deaths, names. */
#ifndef RGI_TIMELINE_PICTURE_H
#define RGI_TIMELINE_PICTURE_H

#include <regroup/timeline.h>

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

#endif

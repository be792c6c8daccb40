/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "timeline/timeline_picture.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b) {
  const rg_timeline_walker *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

const rg_timeline_walker *rgi_timeline_find_walker(const rgi_timeline_picture *picture,
                                                   int64_t key) {
  const rg_timeline_walker wanted = {.key = key};
  return picture->walkers
             ? bsearch(&wanted, picture->walker, (size_t)picture->walkers, sizeof wanted, by_key)
             : NULL;
}

int rgi_timeline_frames(const rgi_timeline_picture *picture, const rg_span *span) {
  return span->together && span->first >= 0 && span->size > 0 &&
         (int64_t)span->first + span->size <= picture->ranks;
}

int rgi_timeline_is_apart(const rgi_timeline_picture *picture, const rg_span *span) {
  return span->kind == RG_SPAN_WORK && span->size > 1 && !rgi_timeline_frames(picture, span);
}

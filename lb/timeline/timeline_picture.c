/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "timeline/timeline_picture.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b) {
  const rg_timeline_walker *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

const rg_timeline_walker *rgi_timeline_find_walker(const rgi_timeline_picture *p, int64_t key) {
  const rg_timeline_walker wanted = {.key = key};
  return p->walkers ? bsearch(&wanted, p->walker, (size_t)p->walkers, sizeof wanted, by_key) : NULL;
}

int rgi_timeline_frames(const rgi_timeline_picture *p, const rg_span *s) {
  return s->together && s->first >= 0 && s->size > 0 && (int64_t)s->first + s->size <= p->ranks;
}

int rgi_timeline_is_apart(const rgi_timeline_picture *p, const rg_span *s) {
  return s->kind == RG_SPAN_WORK && s->size > 1 && !rgi_timeline_frames(p, s);
}

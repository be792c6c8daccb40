/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Recording and gathering. A rank's spans lie in an array that doubles; a mark ends the present
 * span and begins the next, and a mark of the same span only prolongs it. If there is no memory for
 * a span, recording goes on and the gathering reports the loss. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "collectives/group_error.h"
#include "timeline/timeline.h"

#define MAGIC 0x74696d65u

int rgi_timeline_check(const char *call, rg_timeline t) {
  if (!t || t->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: no timeline, or freed already", call);
  return RG_SUCCESS;
}

int rg_timeline_create(rg_timeline *t) {
  RGI_REQUIRE(t);
  rg_timeline made = calloc(1, sizeof *made);
  if (!made)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", __func__);
  made->magic = MAGIC;
  *t = made;
  return RG_SUCCESS;
}

int rg_timeline_free(rg_timeline *t) {
  RGI_REQUIRE(t);
  if (!*t)
    return RG_SUCCESS;
  RGI_TRY(rgi_timeline_check(__func__, *t));
  free((*t)->spans);
  free((*t)->counts);
  (*t)->magic = 0;
  free(*t);
  *t = NULL;
  return RG_SUCCESS;
}

static int same_span(const rg_span *a, const rg_span *b) {
  return a->kind == b->kind && a->group == b->group &&
         (a->kind != RG_SPAN_WORK || a->key == b->key);
}

static int grow_spans(rg_timeline t) {
  if (t->count < t->room)
    return 1;
  int64_t room = t->room ? 2 * t->room : 64;
  rg_span *spans = realloc(t->spans, sizeof *spans * (size_t)room);
  if (!spans)
    return 0;
  t->spans = spans;
  t->room = room;
  return 1;
}

int rg_timeline_mark_at(rg_timeline t, const rg_span *span, double when) {
  if (!t)
    return RG_SUCCESS;
  RGI_TRY(rgi_timeline_check(__func__, t));
  RGI_REQUIRE(span);
  if (t->lost || t->counts || (t->count && same_span(&t->spans[t->count - 1], span)))
    return RG_SUCCESS;
  if (t->count)
    t->spans[t->count - 1].end = when;
  if (!grow_spans(t)) {
    t->lost = 1;
    return RG_SUCCESS;
  }
  t->spans[t->count] = *span;
  t->spans[t->count].start = t->spans[t->count].end = when;
  t->count++;
  return RG_SUCCESS;
}

int rg_timeline_mark(rg_timeline t, const rg_span *span) {
  return t ? rg_timeline_mark_at(t, span, rgi_clock_now()) : RG_SUCCESS;
}

int rg_timeline_end(rg_timeline t, double when) {
  RGI_TRY(rgi_timeline_check(__func__, t));
  while (t->count && !t->counts && t->spans[t->count - 1].start > when)
    t->count--;
  if (t->count && !t->counts)
    t->spans[t->count - 1].end = when;
  return RG_SUCCESS;
}

int rg_timeline_spans(rg_timeline t, int64_t *count, const rg_span **spans,
                      const int64_t **counts) {
  RGI_TRY(rgi_timeline_check(__func__, t));
  RGI_REQUIRE(count);
  RGI_REQUIRE(spans);
  *count = t->count;
  *spans = t->spans;
  if (counts)
    *counts = t->counts;
  return RG_SUCCESS;
}

/* --- gathering --------------------------------------------------------------------------- */

typedef struct {
  int rank, size; /* of the group */
  int64_t *counts;
  MPI_Count *bytes;
  MPI_Aint *starts;
  rg_span *all;
  int64_t total;
} gathered_spans;

static void free_gathered(gathered_spans *g) {
  free(g->counts);
  free(g->bytes);
  free(g->starts);
  free(g->all);
}

static int make_room(gathered_spans *x) {
  int size = x->size;
  x->counts = calloc((size_t)size, sizeof *x->counts);
  x->bytes = calloc((size_t)size, sizeof *x->bytes);
  x->starts = calloc((size_t)size, sizeof *x->starts);
  return x->counts && x->bytes && x->starts
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "rg_timeline_gather: no memory for %d processes", size);
}

static int make_room_for_spans(gathered_spans *x) {
  for (int r = 0; r < x->size; r++) {
    x->bytes[r] = x->counts[r] * (MPI_Count)sizeof(rg_span);
    x->starts[r] = (MPI_Aint)(x->total * (int64_t)sizeof(rg_span));
    x->total += x->counts[r];
  }
  x->all = malloc((size_t)(x->total + 1) * sizeof *x->all);
  return x->all ? RG_SUCCESS
                : rgi_error(RG_ERR_NOMEM, "rg_timeline_gather: no memory for %lld spans",
                            (long long)x->total);
}

static int collect_spans(rg_timeline t, rg_group g, int root, gathered_spans *x) {
  int error = t->lost ? rgi_error(RG_ERR_NOMEM, "rg_timeline_gather: a span was lost") : RG_SUCCESS;
  if (!error && x->rank == root)
    error = make_room(x);
  RGI_TRY(rgi_group_error_share(g, "rg_timeline_gather", error));
  RGI_TRY(rg_gather(g, &t->count, 1, MPI_INT64_T, x->counts, 1, MPI_INT64_T, root));
  RGI_TRY(rgi_group_error_share(g, "rg_timeline_gather",
                                x->rank == root ? make_room_for_spans(x) : RG_SUCCESS));
  return rg_gatherv(g, t->spans, t->count * (MPI_Count)sizeof *t->spans, MPI_BYTE, x->all, x->bytes,
                    x->starts, MPI_BYTE, root);
}

int rg_timeline_gather(rg_timeline t, rg_group g, double origin, int root) {
  gathered_spans x = {0};
  RGI_TRY(rgi_timeline_check(__func__, t));
  RGI_TRY(rg_group_rank(g, &x.rank));
  RGI_TRY(rg_group_size(g, &x.size));
  if (root < 0 || root >= x.size)
    return rgi_error(RG_ERR_RANK, "%s: root %d; the group's ranks go from 0 to %d", __func__, root,
                     x.size - 1);
  for (int64_t i = 0; i < t->count; i++) {
    t->spans[i].start -= origin;
    t->spans[i].end -= origin;
  }
  int error = collect_spans(t, g, root, &x);
  if (!error && x.rank == root) {
    free(t->spans);
    free(t->counts);
    t->spans = x.all;
    t->counts = x.counts;
    t->count = t->room = x.total;
    t->ranks = x.size;
    x.all = NULL;
    x.counts = NULL;
  }
  free_gathered(&x);
  return error;
}

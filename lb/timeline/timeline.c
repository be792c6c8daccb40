/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Recording. A rank's spans lie in an array that doubles; a mark ends the present span and begins
 * the next, and a mark of the same span only prolongs it. If there is no memory for a span,
 * recording goes on and the gathering (timeline_gather.c) reports the loss. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
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
  free((*t)->parts);
  free((*t)->deaths);
  free((*t)->counts);
  free((*t)->row_of);
  free((*t)->rank_of);
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
  if (!isfinite(when))
    return rgi_error(RG_ERR_ARG, "rg_timeline_mark_at: the time is %g", when);
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
  if (!isfinite(when))
    return rgi_error(RG_ERR_ARG, "%s: the time is %g", __func__, when);
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

/* --- balancers ----------------------------------------------------------------------------- */

int rgi_timeline_part_open(rg_timeline t) {
  if (!t || rgi_timeline_check(__func__, t))
    return -1;
  rgi_timeline_part *parts = realloc(t->parts, sizeof *parts * (size_t)(t->part_count + 1));
  if (!parts) {
    t->lost = 1;
    return -1;
  }
  t->parts = parts;
  parts[t->part_count] = (rgi_timeline_part){.formed = -1};
  return t->part_count++;
}

/* Groups of several balancers are numbered in the order in which the process is in them. */
void rgi_timeline_part_mark(rg_timeline t, int part, const rg_span *span) {
  if (!t || part < 0 || rgi_timeline_check(__func__, t))
    return;
  rgi_timeline_part *p = &t->parts[part];
  rg_span own = *span;
  if (p->formed != span->group) {
    p->formed = span->group;
    p->group = ++t->groups;
  }
  own.group = p->group;
  own.unused = 1;
  rg_timeline_mark(t, &own);
}

void rgi_timeline_died(rg_timeline t, int world_rank, double when) {
  if (!t || rgi_timeline_check(__func__, t) || t->counts)
    return;
  for (int64_t i = 0; i < t->death_count; i++)
    if (t->deaths[i].rank == world_rank)
      return;
  rg_timeline_death *deaths = realloc(t->deaths, sizeof *deaths * (size_t)(t->death_count + 1));
  if (!deaths) {
    t->lost = 1;
    return;
  }
  t->deaths = deaths;
  deaths[t->death_count++] = (rg_timeline_death){.rank = world_rank, .when = when};
}

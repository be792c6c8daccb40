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

int rgi_timeline_check(const char *call, rg_timeline timeline) {
  if (!timeline || timeline->magic != MAGIC)
    return rgi_error(RG_ERR_ARG, "%s: no timeline, or freed already", call);
  return RG_SUCCESS;
}

int rg_timeline_create(rg_timeline *timeline) {
  RGI_REQUIRE(timeline);
  rg_timeline made = calloc(1, sizeof *made);
  if (!made)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", __func__);
  made->magic = MAGIC;
  *timeline = made;
  return RG_SUCCESS;
}

int rg_timeline_free(rg_timeline *timeline) {
  RGI_REQUIRE(timeline);
  if (!*timeline)
    return RG_SUCCESS;
  RGI_TRY(rgi_timeline_check(__func__, *timeline));
  free((*timeline)->spans);
  free((*timeline)->parts);
  free((*timeline)->deaths);
  free((*timeline)->counts);
  free((*timeline)->row_of);
  free((*timeline)->rank_of);
  (*timeline)->magic = 0;
  free(*timeline);
  *timeline = NULL;
  return RG_SUCCESS;
}

static int same_span(const rg_span *a, const rg_span *b) {
  return a->kind == b->kind && a->group == b->group &&
         (a->kind != RG_SPAN_WORK || a->key == b->key);
}

static int grow_spans(rg_timeline timeline) {
  if (timeline->count < timeline->room)
    return 1;
  int64_t room = timeline->room ? 2 * timeline->room : 64;
  rg_span *spans = realloc(timeline->spans, sizeof *spans * (size_t)room);
  if (!spans)
    return 0;
  timeline->spans = spans;
  timeline->room = room;
  return 1;
}

int rg_timeline_mark_at(rg_timeline timeline, const rg_span *span, double when) {
  if (!timeline)
    return RG_SUCCESS;
  RGI_TRY(rgi_timeline_check(__func__, timeline));
  RGI_REQUIRE(span);
  if (!isfinite(when))
    return rgi_error(RG_ERR_ARG, "rg_timeline_mark_at: the time is %g", when);
  if (timeline->lost || timeline->counts ||
      (timeline->count && same_span(&timeline->spans[timeline->count - 1], span)))
    return RG_SUCCESS;
  if (timeline->count)
    timeline->spans[timeline->count - 1].end = when;
  if (!grow_spans(timeline)) {
    timeline->lost = 1;
    return RG_SUCCESS;
  }
  timeline->spans[timeline->count] = *span;
  timeline->spans[timeline->count].start = timeline->spans[timeline->count].end = when;
  timeline->count++;
  return RG_SUCCESS;
}

int rg_timeline_mark(rg_timeline timeline, const rg_span *span) {
  return timeline ? rg_timeline_mark_at(timeline, span, rgi_clock_now()) : RG_SUCCESS;
}

int rg_timeline_end(rg_timeline timeline, double when) {
  RGI_TRY(rgi_timeline_check(__func__, timeline));
  if (!isfinite(when))
    return rgi_error(RG_ERR_ARG, "%s: the time is %g", __func__, when);
  while (timeline->count && !timeline->counts && timeline->spans[timeline->count - 1].start > when)
    timeline->count--;
  if (timeline->count && !timeline->counts)
    timeline->spans[timeline->count - 1].end = when;
  return RG_SUCCESS;
}

int rg_timeline_spans(rg_timeline timeline, int64_t *count, const rg_span **spans,
                      const int64_t **counts) {
  RGI_TRY(rgi_timeline_check(__func__, timeline));
  RGI_REQUIRE(count);
  RGI_REQUIRE(spans);
  *count = timeline->count;
  *spans = timeline->spans;
  if (counts)
    *counts = timeline->counts;
  return RG_SUCCESS;
}

/* --- balancers ----------------------------------------------------------------------------- */

int rgi_timeline_part_open(rg_timeline timeline) {
  if (!timeline || rgi_timeline_check(__func__, timeline))
    return -1;
  rgi_timeline_part *parts =
      realloc(timeline->parts, sizeof *parts * (size_t)(timeline->part_count + 1));
  if (!parts) {
    timeline->lost = 1;
    return -1;
  }
  timeline->parts = parts;
  parts[timeline->part_count] = (rgi_timeline_part){.formed = -1};
  return timeline->part_count++;
}

/* Groups of several balancers are numbered in the order in which the process is in them. */
void rgi_timeline_part_mark(rg_timeline timeline, int part, const rg_span *span) {
  if (!timeline || part < 0 || rgi_timeline_check(__func__, timeline))
    return;
  rgi_timeline_part *own_part = &timeline->parts[part];
  rg_span own = *span;
  if (own_part->formed != span->group) {
    own_part->formed = span->group;
    own_part->group = ++timeline->groups;
  }
  own.group = own_part->group;
  own.unused = 1;
  rg_timeline_mark(timeline, &own);
}

void rgi_timeline_died(rg_timeline timeline, int world_rank, double when) {
  if (!timeline || rgi_timeline_check(__func__, timeline) || timeline->counts)
    return;
  for (int64_t i = 0; i < timeline->death_count; i++)
    if (timeline->deaths[i].rank == world_rank)
      return;
  rg_timeline_death *deaths =
      realloc(timeline->deaths, sizeof *deaths * (size_t)(timeline->death_count + 1));
  if (!deaths) {
    timeline->lost = 1;
    return;
  }
  timeline->deaths = deaths;
  deaths[timeline->death_count++] = (rg_timeline_death){.rank = world_rank, .when = when};
}

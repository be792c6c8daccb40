/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "event.h"

#include <stdlib.h>

#include "base/error.h"

static int is_earlier(const sim_event *a, const sim_event *b) {
  return a->time < b->time || (a->time == b->time && a->number < b->number);
}

int sim_events_add(sim_events *e, sim_event event) {
  if (e->count == e->room) {
    int64_t room = 2 * e->room + 64;
    sim_event *more = realloc(e->at, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "simulation: no memory for %lld events", (long long)room);
    e->at = more;
    e->room = room;
  }
  event.number = e->added++;
  int64_t at = e->count++;
  for (int64_t up; at > 0 && is_earlier(&event, &e->at[up = (at - 1) / 2]); at = up)
    e->at[at] = e->at[up];
  e->at[at] = event;
  return RG_SUCCESS;
}

int sim_events_next(sim_events *e, sim_event *event) {
  if (e->count == 0)
    return 0;
  *event = e->at[0];
  sim_event last = e->at[--e->count];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < e->count; at = child) {
    if (child + 1 < e->count && is_earlier(&e->at[child + 1], &e->at[child]))
      child++;
    if (!is_earlier(&e->at[child], &last))
      break;
    e->at[at] = e->at[child];
  }
  if (e->count > 0)
    e->at[at] = last;
  return 1;
}

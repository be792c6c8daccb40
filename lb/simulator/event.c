/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "event.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"

static int is_earlier(const sim_event *a, const sim_event *b) {
  return a->time < b->time || (a->time == b->time && a->number < b->number);
}

int sim_events_add(sim_events *events, sim_event event) {
  RGI_TRY(rgi_grow(&events->at, events->count, &events->room, sizeof *events->at,
                   "simulation: no memory for %lld events"));
  event.number = events->added++;
  int64_t at = events->count++;
  for (int64_t up; at > 0 && is_earlier(&event, &events->at[up = (at - 1) / 2]); at = up)
    events->at[at] = events->at[up];
  events->at[at] = event;
  return RG_SUCCESS;
}

int sim_events_next(sim_events *events, sim_event *event) {
  if (events->count == 0)
    return 0;
  *event = events->at[0];
  sim_event last = events->at[--events->count];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < events->count; at = child) {
    if (child + 1 < events->count && is_earlier(&events->at[child + 1], &events->at[child]))
      child++;
    if (!is_earlier(&events->at[child], &last))
      break;
    events->at[at] = events->at[child];
  }
  if (events->count > 0)
    events->at[at] = last;
  return 1;
}

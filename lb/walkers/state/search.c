/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>

#include "base/clock.h"
#include "walkers/state/search.h"

void rgi_search_begin(rgi_search *s) {
  s->part = (rgi_search_part){.target = -1};
  s->asked = -1;
  s->seen = -1;
  s->since = rgi_clock_now();
}

void rgi_search_forget(rgi_search *s) {
  if (s->request)
    rg_wait(&s->request, NULL);
  free(s->ranks);
  free(s->part.entry.memory);
  free(s->parts);
  *s = (rgi_search){0};
  rgi_search_begin(s);
}

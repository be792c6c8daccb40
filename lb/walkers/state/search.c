/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>

#include "base/clock.h"
#include "walkers/state/search.h"

void rgi_search_begin(rgi_search *search) {
  search->part = (rgi_search_part){.target = -1};
  search->asked = -1;
  search->seen = -1;
  search->since = rgi_clock_now();
}

void rgi_search_forget(rgi_search *search) {
  if (search->request)
    rg_wait(&search->request, NULL);
  free(search->ranks);
  free(search->part.entry.memory);
  free(search->parts);
  *search = (rgi_search){0};
  rgi_search_begin(search);
}

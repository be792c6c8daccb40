/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>

#include "base/clock.h"
#include "base/spare.h"
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
  rgi_spare_free(search->ranks);
  rgi_spare_free(search->part.entry.memory);
  rgi_spare_free(search->parts);
  *search = (rgi_search){0};
  rgi_search_begin(search);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "sim.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "mode.h"

static int find_bound(const sim_setup *s, double *bound) {
  int64_t longest = 0;
  for (int64_t j = 0; j < s->pattern.walkers; j++)
    longest = s->pattern.units[j] > longest ? s->pattern.units[j] : longest;
  int64_t each = s->most > 0 && s->most < s->ranks ? s->most : s->ranks;
  int64_t all = s->pattern.walkers <= s->ranks / each ? s->pattern.walkers * each : s->ranks;
  all = all > 0 ? all : 1;
  if (s->meetings)
    return sim_meetings_bound(s->meetings, &s->machine, s->unit, all, each, bound);
  *bound = fmax((double)s->pattern.total * s->unit / (double)all,
                (double)longest * s->unit * sim_machine_speed(&s->machine, each));
  return RG_SUCCESS;
}

int64_t sim_group(const sim_setup *s, int64_t group) {
  group = s->most > 0 && group > s->most ? s->most : group;
  group = group < s->least ? s->least : group;
  return group < s->ranks ? group : s->ranks;
}

int sim_run(const sim_setup *setup, sim_result *result) {
  sim_world w;
  sim_result r = {0};
  RGI_TRY(find_bound(setup, &r.bound));
  int error = sim_world_start(&w, setup, &r);
  if (!error)
    error = setup->policy.interval ? sim_mode_sync(&w) : sim_mode_async(&w);
  if (!error) {
    sim_world_count(&w);
    r.seconds = w.last + (strcmp(setup->policy.name, "none")
                              ? sim_machine_startup(&setup->machine, setup->ranks)
                              : 0);
    *result = r;
  }
  sim_world_free(&w);
  return error;
}

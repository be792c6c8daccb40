/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "sim.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "world.h"

static int find_bound(const sim_setup *setup, double *bound) {
  int64_t longest = 0;
  for (int64_t j = 0; j < setup->pattern.walkers; j++)
    longest = setup->pattern.units[j] > longest ? setup->pattern.units[j] : longest;
  int64_t each = setup->most > 0 && setup->most < setup->ranks ? setup->most : setup->ranks;
  int64_t all =
      setup->pattern.walkers <= setup->ranks / each ? setup->pattern.walkers * each : setup->ranks;
  all = all > 0 ? all : 1;
  if (setup->meetings)
    return sim_meetings_bound(setup->meetings, &setup->machine, setup->unit, all, each, bound);
  *bound = fmax((double)setup->pattern.total * setup->unit / (double)all,
                (double)longest * setup->unit * sim_machine_speed(&setup->machine, each));
  return RG_SUCCESS;
}

int64_t sim_group(const sim_setup *setup, int64_t group) {
  group = setup->most > 0 && group > setup->most ? setup->most : group;
  group = group < setup->least ? setup->least : group;
  return group < setup->ranks ? group : setup->ranks;
}

int sim_run(const sim_setup *setup, sim_result *result) {
  sim_world world;
  sim_result found = {0};
  RGI_TRY(find_bound(setup, &found.bound));
  int error = sim_world_start(&world, setup, &found);
  if (!error)
    error = setup->policy.interval ? sim_mode_sync(&world) : sim_mode_async(&world);
  if (!error) {
    sim_world_count(&world);
    found.seconds = world.last + (strcmp(setup->policy.name, "none")
                                      ? sim_machine_startup(&setup->machine, setup->ranks)
                                      : 0);
    *result = found;
  }
  sim_world_free(&world);
  return error;
}

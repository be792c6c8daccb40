/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_filing.py starts, with RG_SURVIVE=1: filing PATH ROUNDS SEED DEATHS MICROSECONDS. An
 * array is saved and loaded again and again, at least ROUNDS times, while DEATHS ranks are killed,
 * at any moment. The others shrink and repeat the round. Rank 0 of the survivors
 * prints "FILED members". */
#include <regroup/array_file.h>

#include "grid.h"

static rg_group team;
static const char *path;

static int save_and_load(rg_array from, rg_array to, rg_array loaded) {
  uint64_t saved = 0, found = 0;
  TRY(grid_change(team, from, to));
  TRY(rg_array_checksum(to, &saved));
  TRY(rg_array_save(to, path, RG_FILE_NATIVE));
  TRY(rg_array_load(loaded, path));
  TRY(rg_array_checksum(loaded, &found));
  must(saved == found, "what was loaded is not what was saved");
  return RG_SUCCESS;
}

static int one_round(void) {
  rg_array a[3] = {NULL};
  int error = RG_SUCCESS;
  for (int i = 0; i < 3 && !error; i++)
    error = grid_make(team, &a[i]);
  if (!error)
    error = save_and_load(a[0], a[1], a[2]);
  for (int i = 0; i < 3; i++)
    rg_array_free(&a[i]);
  return error;
}

int main(int argc, char **argv) {
  team = enter_world(&argc, &argv);
  must(argc == 6, "filing PATH ROUNDS SEED DEATHS MICROSECONDS");
  path = argv[1];
  int deaths = atoi(argv[4]);
  uint64_t seed = strtoull(argv[3], NULL, 10);
  kill_some(deaths, world_size, seed, strtoull(argv[5], NULL, 10));
  while (round_now < atoi(argv[2]) || size_of(team) > world_size - deaths)
    round_now += is_done(&team, one_round());
  if (rank_in(team) == 0)
    printf("FILED %d\n", size_of(team));
  leave_world(&team);
  return 0;
}

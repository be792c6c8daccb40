/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What soak.py starts: steady ROUNDS. An array that is mirrored over the nodes changes round
 * after round, each time into a new one, by its neighbours' elements on other nodes too, and ranks
 * are killed from outside, also all of a node. Rank 0 of the survivors prints "STEADY checksum
 * members deaths": the checksum depends on nothing but the number of rounds. Where elements are
 * lost, because all processes that had a copy have died, a line on standard error says so and the
 * status is 4. */
#include "grid.h"

static rg_group team;
static rg_array saved; /* as after round_now rounds */
static uint64_t checksum;

/* From the elements that were saved last, or from the beginning. */
static void recover(void) {
  for (int well = 0; !well;) {
    drop_dead(&team);
    must(!all_well(team, grid_recover(team, &saved), &well), "rg_group_agree");
  }
}

static void work(int rounds) {
  while (round_now < rounds) {
    rg_array next = NULL;
    int well, error = grid_make(team, &next);
    if (!error)
      error = grid_change(team, saved, next);
    must(!all_well(team, error, &well), "rg_group_agree");
    if (well) {
      rg_array_free(&saved);
      saved = next;
      round_now++;
    } else {
      rg_array_free(&next);
      recover();
    }
  }
}

static void sum_up(void) {
  for (int well;;) {
    int error = survivable(rg_array_checksum(saved, &checksum), "rg_array_checksum");
    must(!all_well(team, error, &well), "rg_group_agree");
    if (well)
      return;
    recover();
  }
}

static void print(rg_group g, char *text) {
  snprintf(text, LINE, "STEADY %016llx %d %d\n", (unsigned long long)checksum, size_of(g),
           world_size - size_of(g));
}

int main(int argc, char **argv) {
  team = enter_world(&argc, &argv);
  grid_begin(&team, &saved);
  work(argc > 1 ? atoi(argv[1]) : 100);
  sum_up();
  tell_last(&team, print);
  rg_array_free(&saved);
  leave_world(&team);
  return 0;
}

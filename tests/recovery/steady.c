/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What soak.py starts: steady ROUNDS. An array that is mirrored over the nodes changes round
 * after round, each time into a new one, by its neighbours' elements on other nodes too, and ranks
 * are killed from outside, also all of a node. Rank 0 of the survivors prints "STEADY checksum
 * members deaths": the checksum depends on nothing but the number of rounds. Where the elements of
 * some are lost, because all who had a copy have died, that is said on standard error and the
 * status is 4. */
#include <regroup/array.h>
#include <regroup/array_math.h>
#include <regroup/array_regroup.h>

#include "ranks.h"

#define ROWS 24
#define COLUMNS 30

static rg_group team;
static rg_array saved; /* as after round_now rounds */
static uint64_t checksum;

static int make(rg_array *a) {
  const int64_t shape[2] = {ROWS, COLUMNS};
  rg_array_spec spec;
  rg_array_spec_set(&spec, RG_INT64, 2, shape);
  spec.flags = RG_ARRAY_MIRRORED;
  TRY(rg_array_create(team, &spec, a));
  return survivable(rg_array_zero(*a), "rg_array_zero");
}

/* Each member changes its own part, by its neighbours' elements too, on whatever node. */
static int change(rg_array from, rg_array to) {
  int64_t lo[2], hi[2], row[COLUMNS], *own, ld;
  TRY(rg_array_distribution(to, rank_in(team), lo, hi));
  if (lo[0] < hi[0] && lo[1] < hi[1]) {
    TRY(rg_array_access(to, lo, hi, RG_WRITE, (void *)&own, &ld));
    for (int64_t i = lo[0]; i < hi[0]; i++) {
      const int64_t at[2] = {(i + 1) % ROWS, 0}, end[2] = {(i + 1) % ROWS + 1, COLUMNS};
      TRY(rg_array_get(from, at, end, row, NULL));
      for (int64_t k = lo[1]; k < hi[1]; k++)
        own[(i - lo[0]) * ld + k - lo[1]] =
            (int64_t)mix((uint64_t)row[(k + 1) % COLUMNS] + (uint64_t)(i * COLUMNS + k + 1));
    }
    TRY(rg_array_release(to, lo, hi));
  }
  return survivable(rg_array_sync(to), "rg_array_sync");
}

static int take_over(void) {
  rg_array a = NULL;
  int error = rg_array_recover(&saved, team, &a);
  if (error == RG_ERR_ARRAY && strstr(rg_error_detail(), "are lost")) {
    fprintf(stderr, "LOST: %s\n", rg_error_detail());
    exit(4);
  }
  if (!error)
    saved = a;
  return survivable(error, "rg_array_recover");
}

/* With what was saved last, or from the beginning. */
static void recover(void) {
  for (int well = 0; !well;) {
    rg_group next;
    must(!rg_group_shrink(team, &next), "rg_group_shrink");
    rg_group_free(&team);
    team = next;
    must(!all_well(team, take_over(), &well), "rg_group_agree");
  }
}

static void begin(void) {
  for (int well = 0;;) {
    rg_group next;
    int error = make(&saved);
    if (!error)
      error = survivable(rg_array_sync(saved), "rg_array_sync");
    must(!all_well(team, error, &well), "rg_group_agree");
    if (well)
      return;
    rg_array_free(&saved);
    must(!rg_group_shrink(team, &next), "rg_group_shrink");
    rg_group_free(&team);
    team = next;
  }
}

static void work(int rounds) {
  while (round_now < rounds) {
    rg_array next = NULL;
    int well, error = make(&next);
    if (!error)
      error = change(saved, next);
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
  int all;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  snprintf(text, LINE, "STEADY %016llx %d %d\n", (unsigned long long)checksum, size_of(g),
           all - size_of(g));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  must(!rg_init(MPI_COMM_WORLD, NULL) && !rg_group_world(&team), "rg_init");
  begin();
  work(argc > 1 ? atoi(argv[1]) : 100);
  sum_up();
  tell_last(&team, print);
  rg_array_free(&saved);
  rg_group_free(&team);
  must(!rg_finalize(), "rg_finalize");
  MPI_Finalize();
  return 0;
}

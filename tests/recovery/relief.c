/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_reserves.py and soak.py start: relief SEED ROUNDS ASIDE [RANK:ROUND,...]. The last
 * ASIDE processes are in reserve. The others change an array round after round, which is saved
 * after each; now and then all sleepers are drawn to help with a sum and let go again. Who
 * dies is replaced as long as somebody sleeps, and is missed after that. In the end rank 0
 * prints "RELIEF rounds checksum members deaths": the checksum depends on nothing but the number of
 * rounds. Where nobody is left who has the array, or two nodes are lost with a part of it, "LOST"
 * is said on standard error and the status is 4. RANK:ROUND: the rank of the world kills itself
 * there. */
#include <regroup/array.h>
#include <regroup/array_math.h>
#include <regroup/array_regroup.h>

#include "ranks.h"

#define HELPED 7 /* the tag of groups that are helped */
#define ROWS 24
#define COLUMNS 30

static int world_size, rounds, most; /* most: how many work */
static uint64_t seed, checksum;
static const char *plan;

static struct {
  rg_group team;
  rg_array saved; /* NULL on a newcomer */
} job;

/* --- a round ------------------------------------------------------------------------ */

static int make(rg_array *a) {
  const int64_t shape[2] = {ROWS, COLUMNS};
  rg_array_spec spec;
  rg_array_spec_set(&spec, RG_INT64, 2, shape);
  spec.flags = RG_ARRAY_MIRRORED; /* for several nodes */
  TRY(rg_array_create(job.team, &spec, a));
  TRY(rg_array_zero(*a));
  return survivable(rg_array_sync(*a), "rg_array_sync");
}

/* Each member changes its own part, by its neighbours' elements too. */
static int change(rg_array from, rg_array to) {
  int64_t lo[2], hi[2], row[COLUMNS], *own, ld;
  int me;
  rg_group_rank(job.team, &me);
  TRY(rg_array_distribution(to, me, lo, hi));
  if (lo[0] < hi[0] && lo[1] < hi[1]) {
    TRY(rg_array_access(to, lo, hi, RG_WRITE, (void *)&own, &ld));
    for (int64_t i = lo[0]; i < hi[0]; i++) {
      const int64_t at[2] = {(i + 1) % ROWS, 0}, end[2] = {(i + 1) % ROWS + 1, COLUMNS};
      TRY(rg_array_get(from, at, end, row, NULL));
      for (int64_t k = lo[1]; k < hi[1]; k++)
        own[(i - lo[0]) * ld + k - lo[1]] = (int64_t)mix((uint64_t)row[(k + 1) % COLUMNS] +
                                                         (uint64_t)(i * COLUMNS + k + round_now));
    }
    TRY(rg_array_release(to, lo, hi));
  }
  return survivable(rg_array_sync(to), "rg_array_sync");
}

/* All that sleep and a part of the others: the sum of what they say. */
static int be_helped(void) {
  rg_group grown, asking;
  int n, sum = 1, sleeping = 0;
  if (mix(seed + (uint64_t)round_now) % 3)
    return RG_SUCCESS;
  if (rg_reserve_count(&sleeping))
    fail("rg_reserve_count");
  TRY(rg_bcast(job.team, &sleeping, 1, MPI_INT, 0));
  if (sleeping == 0)
    return RG_SUCCESS;
  rg_group_size(job.team, &n);
  if (rg_group_create_range(job.team, 0, n - 1, 1, HELPED, &asking))
    fail("rg_group_create_range");
  int error = rg_group_grow(asking, sleeping, &grown);
  rg_group_free(&asking);
  if (error == RG_ERR_RESERVE) /* somebody has died meanwhile */
    return RG_SUCCESS;
  TRY(error);
  error = survivable(rg_allreduce(grown, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM), "the sum");
  rg_group_size(grown, &n);
  if (!error && sum != n)
    fail("a helper is missing");
  if (error && rg_group_revoke(grown))
    fail("rg_group_revoke");
  rg_group_free(&grown);
  /* Whether a helper has died, or one of these, shows the next agreement. */
  return error && rg_group_failed(job.team, 0, NULL, &n) == RG_SUCCESS && n > 0 ? RG_ERR_PROC_FAILED
                                                                                : RG_SUCCESS;
}

static int do_round(rg_array *next) {
  if (my_round(plan) == round_now)
    raise(SIGKILL);
  TRY(make(next));
  TRY(be_helped());
  return change(job.saved, *next);
}

/* --- recovering ------------------------------------------------------------------------ */

/* What the members have, for the newcomers too. */
static int take_over(void) {
  rg_array a = NULL;
  int n;
  TRY(rg_allreduce(job.team, MPI_IN_PLACE, &round_now, 1, MPI_INT, MPI_MAX));
  rg_group_size(job.team, &n);
  if (round_now < 0) {
    fprintf(stderr, "LOST: nobody of %d is left who has the array\n", n);
    exit(4);
  }
  int error = rg_array_recover(&job.saved, job.team, &a);
  if (error == RG_ERR_ARRAY && strstr(rg_error_detail(), "are lost")) {
    fprintf(stderr, "LOST: %s\n", rg_error_detail());
    exit(4);
  }
  if (!error)
    job.saved = a;
  return survivable(error, "rg_array_recover");
}

static int next_team(rg_group *next) {
  int n;
  rg_group_size(job.team, &n);
  int error = rg_group_replace(job.team, next);
  if (error == RG_ERR_RESERVE)
    error = rg_group_shrink(job.team, next);
  return error;
}

/* The team is kept until the next one is whole. 0: this process was drawn in vain. */
static int recover(void) {
  for (int well = 0; !well;) {
    rg_group before = job.team, next;
    int error = next_team(&next);
    if (error == RG_ERR_REVOKED)
      return 0;
    if (error)
      fail("rg_group_replace");
    job.team = next;
    if (all_well(job.team, take_over(), &well) == RG_ERR_REVOKED) {
      rg_group_free(&job.team);
      job.team = before;
      continue;
    }
    rg_group_free(&before);
  }
  return 1;
}

static int work(void) {
  while (round_now < rounds) {
    rg_array next = NULL;
    int well = 0, error = do_round(&next);
    if (all_well(job.team, error, &well) == RG_SUCCESS && well) {
      rg_array_free(&job.saved);
      job.saved = next;
      round_now++;
      continue;
    }
    rg_array_free(&next);
    if (!recover())
      return 0;
  }
  return 1;
}

static void print(rg_group g, char *text) {
  snprintf(text, LINE, "RELIEF %d %016llx %d of %d\n", round_now, (unsigned long long)checksum,
           size_of(g), most);
}

static void tell(void) {
  int well = 0;
  for (;;) { /* somebody may die after the last round */
    int error = survivable(rg_array_checksum(job.saved, &checksum), "rg_array_checksum");
    if (all_well(job.team, error, &well) == RG_SUCCESS && well)
      break;
    if (!recover())
      return;
  }
  tell_last(&job.team, print);
}

/* --- the two sides ---------------------------------------------------------------------- */

static void clear(void) {
  rg_array_free(&job.saved);
  rg_group_free(&job.team);
}

static void begin(void) {
  for (int well = 0; !well;) {
    rg_group next;
    if (all_well(job.team, make(&job.saved), &well))
      fail("rg_group_agree");
    if (well)
      break;
    rg_array_free(&job.saved);
    if (rg_group_shrink(job.team, &next))
      fail("rg_group_shrink");
    rg_group_free(&job.team);
    job.team = next;
  }
}

/* As one of the team, in somebody's place. 0: drawn in vain. */
static int stand_in(void) {
  int well = 0;
  round_now = -1;
  int error = all_well(job.team, take_over(), &well);
  if (error == RG_ERR_REVOKED || (!well && !recover()))
    return 0;
  if (!work())
    return 0;
  tell();
  return 1;
}

static int help_once(rg_group g) {
  int sum = 1;
  int error = survivable(rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM), "the sum");
  rg_group_free(&g);
  return error;
}

static void help(void) {
  rg_drawn d;
  int error;
  while (!(error = rg_reserve_park(&d)) && d.group) {
    int tag;
    rg_group_tag(d.group, &tag);
    if (tag == HELPED) {
      help_once(d.group);
      continue;
    }
    job.team = d.group;
    int done = stand_in();
    clear();
    if (done)
      return;
  }
  if (error)
    fprintf(stderr, "LOST: %s\n", rg_error_detail());
  if (error)
    exit(4);
}

/* rg_init has returned everywhere. */
static void meet_all(void) {
  rg_group world;
  if (rg_group_world(&world))
    fail("rg_group_world");
  survivable(rg_barrier(world), "rg_barrier");
  rg_group_free(&world);
}

int main(int argc, char **argv) {
  int aside = argc > 3 ? atoi(argv[3]) : 1;
  seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  rounds = argc > 2 ? atoi(argv[2]) : 100;
  plan = argc > 4 ? argv[4] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  most = world_size - aside;
  if (rg_init(MPI_COMM_WORLD, NULL))
    fail("rg_init");
  if (*plan)
    meet_all();
  if (rg_reserve_open(aside, &job.team))
    fail("rg_reserve_open");
  if (job.team) {
    begin();
    if (!work())
      fail("the team is lost");
    tell();
    clear();
  } else {
    help();
  }
  if (rg_finalize())
    fail("rg_finalize");
  MPI_Finalize();
  return 0;
}

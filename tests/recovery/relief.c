/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_reserves.py and soak.py start: relief SEED ROUNDS ASIDE [RANK:ROUND,...]. The last
 * ASIDE processes are in reserve. The others change an array round after round, which is saved
 * after each; now and then all of them are acquired to help with a sum and released again. A
 * process that dies is replaced as long as the reserve has one, and not after that. In the end rank
 * 0 prints "RELIEF rounds checksum members deaths": the checksum depends on nothing but the number
 * of rounds. Where no process is left that has the array, or two nodes are lost with a part of it,
 * "LOST" is printed on standard error and the status is 4. RANK:ROUND: the rank of the world kills
 * itself there. */
#include "grid.h"

#define HELPED 7 /* the tag of groups that are helped */

static int rounds, most; /* most: how many work */
static uint64_t seed, checksum;
static const char *plan;

static struct {
  rg_group team;
  rg_array saved; /* NULL on a newcomer */
} job;

/* --- a round ------------------------------------------------------------------------ */

/* All processes in reserve and a part of the others: the sum of their numbers. */
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
  if (error == RG_ERR_RESERVE) /* a process has died meanwhile */
    return RG_SUCCESS;
  TRY(error);
  error = survivable(rg_allreduce(grown, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM), "the sum");
  rg_group_size(grown, &n);
  if (!error && sum != n)
    fail("a helper is missing");
  if (error && rg_group_revoke(grown))
    fail("rg_group_revoke");
  rg_group_free(&grown);
  /* The next agreement shows whether a helper or a member has died. */
  return error && rg_group_failed(job.team, 0, NULL, &n) == RG_SUCCESS && n > 0 ? RG_ERR_PROC_FAILED
                                                                                : RG_SUCCESS;
}

static int do_round(rg_array *next) {
  if (my_round(plan) == round_now)
    raise(SIGKILL);
  TRY(grid_make(job.team, next));
  TRY(be_helped());
  return grid_change(job.team, job.saved, *next);
}

/* --- recovering ------------------------------------------------------------------------ */

/* The state that members have is sent to newcomers. */
static int take_over(void) {
  TRY(rg_allreduce(job.team, MPI_IN_PLACE, &round_now, 1, MPI_INT, MPI_MAX));
  if (round_now < 0) {
    fprintf(stderr, "LOST: nobody of %d is left who has the array\n", size_of(job.team));
    exit(4);
  }
  return grid_recover(job.team, &job.saved);
}

static int next_team(rg_group *next) {
  int n;
  rg_group_size(job.team, &n);
  int error = rg_group_replace(job.team, next);
  if (error == RG_ERR_RESERVE)
    error = rg_group_shrink(job.team, next);
  return error;
}

/* The team is kept until the next one is whole. 0: this process was acquired in vain. */
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
  for (;;) { /* a process may die after the last round */
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

/* As a member of the team, in the place of a dead one. 0: acquired in vain. */
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
  rg_acquisition d = {.size = sizeof d};
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
  if (error) {
    fprintf(stderr, "LOST: %s\n", rg_error_detail());
    exit(4);
  }
}

int main(int argc, char **argv) {
  int aside = argc > 3 ? atoi(argv[3]) : 1;
  rg_group world = enter_world(&argc, &argv);
  seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  rounds = argc > 2 ? atoi(argv[2]) : 100;
  plan = argc > 4 ? argv[4] : "";
  most = world_size - aside;
  if (*plan) /* no rank dies before rg_init has returned everywhere */
    all_here(world);
  rg_group_free(&world);
  if (rg_reserve_open(aside, &job.team))
    fail("rg_reserve_open");
  if (job.team) {
    grid_begin(&job.team, &job.saved);
    if (!work())
      fail("the team is lost");
    tell();
    clear();
  } else {
    help();
  }
  leave_world(&job.team);
  return 0;
}

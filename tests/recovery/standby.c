/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_reserves.py starts: standby RUNS ASIDE [RANK:RUN,...]. A balancer runs RUNS times, each
 * time on new walkers; the last ASIDE processes are in reserve. The rank of the world kills itself
 * in a unit of that run, which ends without it; between two runs processes from the reserve
 * take the places of the dead. In the end rank 0 prints "STANDBY runs total members of most", if
 * every walker of every run had the right result. */
#include "ranks.h"

enum { WALKERS = 7, UNITS = 12, UNIT_MICROSECONDS = 2000 };

typedef struct {
  int64_t done, sum;
} state;

static struct { int64_t run, total; /* runs that have ended; of their walkers */ } job;

static int dies_in;

static int start(rg_walker *walker, void *context) {
  (void)context;
  *(state *)walker->state = (state){.done = 0};
  return RG_SUCCESS;
}

static int unit(rg_walker *walker, rg_group g, void *context) {
  state *s = walker->state;
  int64_t mine = rank_in(g) == 0 ? (walker->id + 1) * (s->done + 1) : 0;
  (void)context;
  usleep(UNIT_MICROSECONDS);
  if (dies_in == job.run && s->done == UNITS / 2)
    raise(SIGKILL);
  int error = rg_allreduce(g, MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM);
  s->sum += mine;
  s->done++;
  return error;
}

static double left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(UNITS - ((const state *)walker->state)->done);
}

static int64_t add_outcomes(rg_balancer balancer) {
  int64_t count = 0, total = 0;
  const rg_balance_outcome *o = NULL;
  must(!rg_balance_outcomes(balancer, &count, &o) && count == WALKERS, "a walker is missing");
  for (int64_t i = 0; i < count; i++) {
    const state *s = o[i].state;
    must(!o[i].error && s->sum == (o[i].id + 1) * (UNITS * (UNITS + 1) / 2), "a wrong sum");
    total += s->sum;
  }
  return total;
}

/* On all members, of which some die: the survivors have the outcomes. */
static void run_walkers(rg_group team) {
  rg_walker_kind kind = {
      .size = sizeof kind, .bytes = sizeof(state), .unit = unit, .left = left, .start = start};
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options options = {.size = sizeof options, .policy = &policy, .group = 1};
  rg_balancer b;
  int first = 0, root;
  int64_t total = 0;
  must(!rg_policy_parse("share-out:cost=0", &policy), "rg_policy_parse");
  must(!rg_balance_create(team, &kind, &options, &b), "rg_balance_create");
  for (int i = 0; i < WALKERS; i++) {
    rg_walker_new new = {.size = sizeof new, .id = WALKERS *job.run + i, .left = UNITS};
    must(!rg_balance_add(b, &new), "rg_balance_add");
  }
  must(!rg_balance_run(b), "rg_balance_run");
  rg_group living = survivors_of(team);
  must(!rg_group_translate(living, 1, &first, team, &root), "rg_group_translate");
  must(!rg_balance_gather(b, root), "rg_balance_gather");
  if (rank_in(living) == 0)
    total = add_outcomes(b);
  must(!rg_bcast(living, &total, 1, MPI_INT64_T, 0), "rg_bcast");
  job.total += total;
  job.run++;
  rg_balance_free(&b);
  rg_group_free(&living);
}

/* New members have not run yet. */
static void tell_newcomers(rg_group team) {
  must(!rg_allreduce(team, MPI_IN_PLACE, &job, 2, MPI_INT64_T, MPI_MAX), "rg_allreduce");
}

static void work(rg_group *team, int64_t runs, int most) {
  for (tell_newcomers(*team); job.run < runs; tell_newcomers(*team)) {
    rg_group before = *team;
    run_walkers(before);
    int error = rg_group_replace(before, team);
    if (error == RG_ERR_RESERVE)
      error = rg_group_shrink(before, team);
    must(!error, "rg_group_replace");
    rg_group_free(&before);
  }
  if (rank_in(*team) == 0)
    printf("STANDBY %lld %lld %d of %d\n", (long long)job.run, (long long)job.total, size_of(*team),
           most);
  fflush(stdout);
  rg_group_free(team);
}

int main(int argc, char **argv) {
  rg_group team, world = enter_world(&argc, &argv);
  rg_acquisition d = {.size = sizeof d};
  int aside = atoi(argv[2]);
  dies_in = my_round(argc > 3 ? argv[3] : "");
  all_here(world);
  rg_group_free(&world);
  must(!rg_reserve_open(aside, &team), "rg_reserve_open");
  if (!team) {
    must(!rg_reserve_park(&d), "rg_reserve_park");
    team = d.group;
  }
  if (team)
    work(&team, atoll(argv[1]), world_size - aside);
  leave_world(&team);
  return 0;
}

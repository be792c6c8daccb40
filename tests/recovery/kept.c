/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_walkers.py starts, with RG_SURVIVE=1, on two or more nodes of a rank each: in a unit
 * the first rank kills the first half of the ranks, and so their nodes, when another node has
 * answered its messages; the walker continues there from a unit that was done. Its rank prints
 * "KEPT done". */
#include "base/clock.h"
#include "ranks.h"
#include "walkers/state/balancer_state.h"

#define LIMIT 30.0 /* seconds; then it dies whatever was answered */

static int64_t resumed = -1; /* units done when the walker began here after the death */
static double began;
static int pids[64];
static rg_balancer balancer;

static int answered(void) {
  const rgi_buddy *k = &balancer->survival.buddy;
  return k->last > 0 && k->open == 0;
}

static void kill_half(void) {
  for (int r = world_size / 2 - 1; r >= 0; r--)
    kill(pids[r], SIGKILL);
}

/* The state is the number of units. The walkers of the other ranks have one; walker 0 ends some
 * units after the death. */
static int unit(rg_walker *walker, rg_group g, void *context) {
  (void)g;
  (void)context;
  must(*(int64_t *)walker->state == walker->done, "the state of another unit");
  if (my_rank == 0 && ((walker->done > 4 && answered()) || rgi_clock_now() > began + LIMIT))
    kill_half();
  usleep(1000);
  ++*(int64_t *)walker->state;
  return RG_SUCCESS;
}

static double left(const rg_walker *walker, void *context) {
  int64_t done = *(const int64_t *)walker->state;
  (void)context;
  return walker->id ? (double)(1 - done) : resumed < 0 ? 1000 : (double)(resumed + 3 - done);
}

static int changed(rg_walker *walker, rg_group g, void *context) {
  (void)g;
  (void)context;
  if (my_rank > 0 && walker->id == 0)
    resumed = walker->done;
  return RG_SUCCESS;
}

int main(int argc, char **argv) {
  rg_group world = enter_world(&argc, &argv);
  rg_policy policy = {.size = sizeof policy};
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(int64_t),
                         .unit = unit,
                         .left = left,
                         .changed = changed};
  rg_balance_options options = {.size = sizeof options, .policy = &policy, .group = 1};
  must(!rg_policy_parse("none", &policy), "rg_policy_parse");
  must(!rg_balance_create(world, &kind, &options, &balancer), "rg_balance_create");
  int pid = getpid();
  MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  for (int w = 0; w < world_size; w++)
    must(!rg_balance_add(
             balancer,
             &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = RG_LOAD_UNKNOWN}),
         "rg_balance_add");
  began = rgi_clock_now();
  must(!rg_balance_run(balancer), "rg_balance_run");
  if (resumed >= 0)
    printf("KEPT %lld\n", (long long)resumed);
  must(!rg_balance_free(&balancer), "rg_balance_free");
  leave_world(&world);
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers on two (pretended) nodes: requests, walkers that go to the other node, the end.
 * tier: default
 * ranks: 2 4 5
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * time: 120 */
#include <unistd.h>

#include "balance_work.h"

static rg_group world;

static void run(const char *name, int group, int walkers, int made) {
  work_context c = {.children = made, .random = (uint64_t)(walkers + rgt_rank + 1)};
  rg_walker_kind kind = work_kind(&c);
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = group};
  int64_t count;
  int children = 0;
  const rg_balance_outcome *all;
  RGT_OK(rg_policy_parse(name, &policy));
  RGT_OK(rg_balance_create(world, &kind, &o, &c.b));
  for (int w = 0; w < walkers; w++) {
    RGT_OK(rg_balance_add(
        c.b,
        &(rg_walker_new){.size = sizeof(rg_walker_new), .id = w, .left = (double)work_units(w)}));
    children += work_units(w) > 0 ? made : 0;
  }
  RGT_OK(rg_balance_run(c.b));
  RGT_OK(rg_balance_gather(c.b, 0));
  RGT_OK(rg_balance_outcomes(c.b, &count, &all));
  if (rgt_rank == 0)
    RGT_INT(count, walkers + children);
  for (int i = 0; i < count && rgt_rank == 0; i++)
    work_check(&all[i]);
  RGT_OK(rg_balance_free(&c.b));
}

static void test_two_nodes(void) {
  static const char *const names[] = {"none",      "join-right",     "most-work",
                                      "share-out", "release:cost=0", "sync:i=2"};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int p = 0; p < 6; p++)
    for (int group = 1; group <= 3; group++) {
      run(names[p], group, 0, 0);
      run(names[p], group, 1, 2);
      run(names[p], group, 6, 0);
      run(names[p], group, 14, 1);
    }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* A balancer with one walker for each of four ranks. */
static rg_balancer four_walkers(const char *name, const rg_walker_kind *kind, const double left[4],
                                const int most[4]) {
  rg_policy policy = {.size = sizeof policy};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1};
  rg_balancer b;
  RGT_OK(rg_policy_parse(name, &policy));
  RGT_OK(rg_balance_create(world, kind, &o, &b));
  for (int w = 0; w < 4; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = left[w], .most = most[w]};
    RGT_OK(rg_balance_add(b, &new));
  }
  return b;
}

/* --- inside a node first --------------------------------------------------------------------- */

enum { SHORT = 2, LONG = 20 };
static int pairs, crossing;

/* A unit of 10 ms, divided among the members. Groups of two are counted, and those of two nodes:
 * MPI distributes the ranks to its pretended nodes in turn. */
static int cross_unit(rg_walker *walker, rg_group g, void *context) {
  int size, nodes[2] = {rgt_rank % 2, -(rgt_rank % 2)};
  (void)context;
  RGT_OK(rg_group_size(g, &size));
  ++*(int64_t *)walker->state;
  usleep(10000 / (unsigned)size);
  int error = rg_allreduce(g, MPI_IN_PLACE, nodes, 2, MPI_INT, MPI_MAX);
  pairs += size == 2;
  crossing += nodes[0] != -nodes[1];
  return error;
}

static double cross_left(const rg_walker *walker, void *context) {
  int64_t units = walker->id == 0 || walker->id == 3 ? SHORT : LONG;
  (void)context;
  return (double)(units - *(const int64_t *)walker->state);
}

/* The walkers of ranks 0 (node 0) and 3 (node 1) are short, those of 1 (node 1) and 2 (node 0) are
 * long and can use two processes: from left to right both idle ranks would leave their nodes.
 * Synchronously, so that both are seen at once. */
static void test_inside_first(void) {
  static const char *const names[] = {"share-out:cost=0,i=1", "release:cost=0,i=1"};
  static const double left[] = {SHORT, LONG, LONG, SHORT};
  static const int most[] = {1, 2, 2, 1};
  rg_walker_kind kind = {
      .size = sizeof kind, .bytes = sizeof(int64_t), .unit = cross_unit, .left = cross_left};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int k = 0; k < 2 && rgt_size == 4; k++) {
    rg_balancer b = four_walkers(names[k], &kind, left, most);
    int sums[2];
    pairs = crossing = 0;
    RGT_OK(rg_balance_run(b));
    sums[0] = pairs;
    sums[1] = crossing;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    RGT_TRUE(sums[0] > 0);
    RGT_INT(sums[1], 0);
    RGT_OK(rg_balance_free(&b));
  }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* --- a group that refuses, and is gone ------------------------------------------------------- */

static int stale_unit(rg_walker *walker, rg_group g, void *context) {
  int size;
  (void)context;
  RGT_OK(rg_group_size(g, &size));
  ++*(int64_t *)walker->state;
  usleep(walker->id == 1 ? 200000 : 10000 / (unsigned)size);
  return rg_barrier(g);
}

static double stale_left(const rg_walker *walker, void *context) {
  static const int64_t units[] = {1, 1, 80, 80};
  int64_t done = *(const int64_t *)walker->state;
  (void)context;
  return walker->id == 1 && done == 0 ? 1e6 : (double)(units[walker->id] - done);
}

/* Rank 0 is idle first; on its node nobody can use it. On the other node it learns of rank 1's
 * walker, which seems the longest, but ends with its first unit. Then rank 1 refuses, and joins
 * rank 3. Rank 0 does not ask it again and again: after a refusal it asks the node which groups it
 * has. */
static void test_refused(void) {
  static const double left[] = {1, 1, 1, 1};
  static const int most[] = {2, 0, 1, 2};
  rg_walker_kind kind = {
      .size = sizeof kind, .bytes = sizeof(int64_t), .unit = stale_unit, .left = stale_left};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int k = 0; k < 3 && rgt_size == 4; k++) {
    rg_balancer b = four_walkers(k ? "most-work" : "share-out:cost=0", &kind, left, most);
    rg_balance_statistics counts = {.size = sizeof counts};
    int64_t refused;
    RGT_OK(rg_balance_run(b));
    RGT_OK(rg_balance_get_statistics(b, &counts));
    refused = counts.refused;
    MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rgt_rank == 0)
      printf("%lld refused\n", (long long)refused);
    RGT_TRUE(refused < 40);
    RGT_OK(rg_balance_free(&b));
  }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"two nodes", test_two_nodes},
                                   {"inside a node first", test_inside_first},
                                   {"refused", test_refused},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "balance-nodes", tests);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that meet on two (pretended) nodes; what cannot take place ends in one error there, too.
 * ranks: 2 3 4 5
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * time: 120 */
#include "meeting_bad.h"
#include "meeting_run.h"

static void test_two_nodes(void) {
  static const char *const names[] = {"none",    "join-right", "most-work", "share-out",
                                      "release", "sync:i=2",   "share-out"};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < 7; i++)
    for (int group = 0; group < 3; group++) {
      uint64_t seed = rgt_seed() + (uint64_t)(3 * i + group);
      if (rgt_rank == 0)
        printf("policy %s, seed %llu\n", names[i], (unsigned long long)seed);
      run(names[i], seed, 2 + (int)(seed % (MEETING_WALKERS - 1)), group, (int)(seed / 2 % 2),
          (int)(seed / 4 % 2));
    }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* One error on all. */
static void test_bad(void) {
  static const char *const names[] = {"none", "share-out", "sync:i=1"};
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  spans_nodes = 1;
  for (int i = 0; i < 3; i++)
    run_all_bad(names[i]);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* --- results in closed form ------------------------------------------------------------------- */

/* In each of n rounds walker w does 1 + w % 3 units, and meets a neighbour: one with the parity of
 * the round the next walker, another one the last. They swap their tokens. So each token moves one
 * place in a round, back from the ends, and after n rounds their order is reversed. A unit adds
 * (token + 1) i for the items i, which are dealt to the members. */
enum { SWAP_ITEMS = 20 };

typedef struct {
  int64_t units, token, sum;
} swap_state;

static int64_t swap_walkers;

static int64_t units_each(int64_t w) {
  return 1 + w % 3;
}

/* The token of walker w before the meeting of a round. The places form a circle: those from n
 * onwards are the places of tokens that move back. */
static int64_t token_at(int64_t w, int64_t round) {
  int64_t n = swap_walkers, place = w % 2 == round % 2 ? w : 2 * n - 1 - w;
  int64_t from = (place - round + 2 * n) % (2 * n);
  return from < n ? from : 2 * n - 1 - from;
}

static int swap_start(rg_walker *walker, void *context) {
  (void)context;
  *(swap_state *)walker->state = (swap_state){.token = walker->id};
  return RG_SUCCESS;
}

static int swap_unit(rg_walker *walker, rg_group g, void *context) {
  swap_state *s = walker->state;
  int64_t sum = 0;
  int rank, size;
  (void)context;
  RGT_OK(rg_group_rank(g, &rank));
  RGT_OK(rg_group_size(g, &size));
  for (int i = rank; i < SWAP_ITEMS; i += size)
    sum += (s->token + 1) * i;
  int error = rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM);
  s->sum += sum;
  s->units++;
  return error;
}

static double swap_left(const rg_walker *walker, void *context) {
  (void)context;
  return (double)(swap_walkers * units_each(walker->id) -
                  ((const swap_state *)walker->state)->units);
}

static int swap_meets(const rg_walker *walker, rg_meeting *meeting, void *context) {
  static int64_t with;
  int64_t units = ((const swap_state *)walker->state)->units,
          round = units / units_each(walker->id) - 1;
  (void)context;
  with = walker->id % 2 == round % 2 ? walker->id + 1 : walker->id - 1;
  if (units > 0 && units % units_each(walker->id) == 0 && with >= 0 && with < swap_walkers)
    *meeting = (rg_meeting){&with, 1, round};
  return RG_SUCCESS;
}

static int swap_tokens(int64_t count, rg_walker *const walkers[], int64_t number, void *context) {
  swap_state *a = walkers[0]->state, *b = walkers[1]->state;
  int64_t token = a->token;
  (void)number;
  (void)context;
  RGT_INT(count, 2);
  a->token = b->token;
  b->token = token;
  return RG_SUCCESS;
}

static int asked;

/* Whatever the policy in context says, it knows the nodes. */
static int watch(const rg_policy *policy, const rg_load_table *table, rg_plan *plan) {
  asked++;
  RGT_TRUE(table->cross > 0);
  RGT_TRUE(table->self >= 0 && table->self < table->count);
  for (int64_t i = 0; i < table->count; i++)
    RGT_TRUE(table->load[i].node >= (table->load[i].ranks == 1) && table->load[i].node <= 2);
  return rg_policy_plan(policy->context, table, plan);
}

static void check_tokens(rg_balancer balancer) {
  const rg_balance_outcome *o;
  int64_t count, n = swap_walkers;
  RGT_OK(rg_balance_gather_all(balancer));
  RGT_OK(rg_balance_outcomes(balancer, &count, &o));
  RGT_INT(count, n);
  for (int64_t w = 0; w < count; w++) {
    const swap_state *s = o[w].state;
    int64_t sum = 0;
    for (int64_t round = 0; round < n; round++)
      sum += units_each(w) * (token_at(w, round) + 1) * (SWAP_ITEMS * (SWAP_ITEMS - 1) / 2);
    RGT_INT(o[w].id, w);
    RGT_INT(o[w].error, RG_SUCCESS);
    RGT_INT(o[w].done, n * units_each(w));
    if (RGT_PTR_NOT_NULL(s)) {
      RGT_INT(s->token, n - 1 - w);
      RGT_INT(s->sum, sum);
    }
  }
}

static void run_swaps(const char *name, int64_t walkers) {
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(swap_state),
                         .start = swap_start,
                         .unit = swap_unit,
                         .left = swap_left,
                         .meets = swap_meets,
                         .meeting = swap_tokens};
  rg_policy own = {.size = sizeof own}, policy;
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = 1};
  rg_balancer b;
  RGT_OK(rg_policy_parse(name, &own));
  policy = own;
  policy.plan = watch;
  policy.context = &own;
  swap_walkers = walkers;
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  for (int64_t w = 0; w < walkers; w++) {
    rg_walker_new new = {.size = sizeof new, .id = w, .left = (double)(walkers * units_each(w))};
    RGT_OK(rg_balance_add(b, &new));
  }
  RGT_OK(rg_balance_run(b));
  check_tokens(b);
  RGT_OK(rg_balance_free(&b));
}

static void test_tokens(void) {
  static const char *const names[] = {"none", "most-work", "share-out", "share-out:cost=0",
                                      "release:cost=0"};
  static const int64_t walkers[] = {3, 8};
  asked = 0;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < 5; i++)
    for (int w = 0; w < 2; w++)
      run_swaps(names[i], walkers[w]);
  MPI_Allreduce(MPI_IN_PLACE, &asked, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_TRUE(asked > 0);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"two nodes", test_two_nodes},
                                   {"no meeting", test_bad},
                                   {"tokens", test_tokens},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "meetings-nodes", tests);
}

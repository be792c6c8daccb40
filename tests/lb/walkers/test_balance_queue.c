/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that wait: the least and the largest number of processes hold wherever processes are
 * given out, and groups divide for walkers. Units that wait for other walkers show which of these
 * work at the same time. ranks: 1 2 3 4 7 time: 120 */
#include <Random123/philox.h>
#include <stdatomic.h>

#include "balance_work.h"
#include "base/clock.h"

enum { LONG = 1000, CHILD = 100 };

static rg_group world;
static MPI_Win window;
static _Atomic int *begun; /* walkers that have begun their first unit */

static const char *const policies[] = {"none",      "join-right", "sync:i=2",      "most-work",
                                       "share-out", "release",    "share-out:i=1", "release:i=2"};
enum { POLICIES = sizeof policies / sizeof *policies };

/* --- walkers ------------------------------------------------------------------------------- */

typedef struct {
  int64_t least, most, units, done;
} queue_state;

typedef struct {
  rg_balancer b;
  int together;         /* a walker's first unit waits until so many have begun; 0: it does not */
  int children;         /* that walker 0 makes in its first unit */
  queue_state child;    /* what they are like */
  int stays;            /* walker 0 does not end before they have begun */
  int chance;           /* each walker with an id < CHILD makes some of its own kind */
  double left_of_child; /* units that a child is said to have at first */
} queue_context;

static void wait_for_others(const queue_context *context) {
  while (atomic_load(begun) < context->together)
    nanosleep(&(struct timespec){0, 200000}, NULL);
}

static void add_child(const queue_context *context, int64_t id, const queue_state *s) {
  rg_walker_new new = {.size = sizeof new,
                       .id = id,
                       .left =
                           context->left_of_child > 0 ? context->left_of_child : (double)s->units,
                       .least = s->least,
                       .most = s->most,
                       .state = s,
                       .bytes = sizeof *s};
  RGT_OK(rg_balance_add(context->b, &new));
}

static uint64_t draw(uint64_t walker, uint64_t what, uint64_t below) {
  philox2x64_ctr_t at = {{walker, what}};
  philox2x64_key_t key = {{rgt_seed()}};
  return philox2x64(at, key).v[0] % below;
}

static queue_state drawn_state(int64_t id, int size) {
  queue_state s = {.least = (int64_t)draw((uint64_t)id, 0, (uint64_t)size + 1),
                   .units = 1 + (int64_t)draw((uint64_t)id, 1, 6)};
  s.most =
      draw((uint64_t)id, 2, 2) ? 0 : (s.least ? s.least : 1) + (int64_t)draw((uint64_t)id, 3, 2);
  return s;
}

static void add_children(const queue_context *context, const rg_walker *walker) {
  for (int i = 0; i < context->children && walker->id == 0; i++)
    add_child(context, CHILD + i, &context->child);
  for (int i = 0; i < context->chance && walker->id < CHILD; i++) {
    int64_t id = CHILD + context->chance * walker->id + i;
    queue_state s = drawn_state(id, rgt_size);
    add_child(context, id, &s);
  }
}

static int queue_unit(rg_walker *walker, rg_group g, void *context) {
  const queue_context *c = context;
  queue_state *s = walker->state;
  int rank, size, sum = 1;
  rg_group_rank(g, &rank);
  rg_group_size(g, &size);
  RGT_TRUE(size >= s->least && (s->most == 0 || size <= s->most));
  if (s->done == 0 && rank == 0) {
    if (c->children == 0 || walker->id >= CHILD)
      atomic_fetch_add(begun, 1);
    add_children(c, walker);
    if (c->together && (c->children == 0 || walker->id >= CHILD))
      wait_for_others(c);
  }
  nanosleep(&(struct timespec){0, 300000}, NULL);
  s->done++;
  int error = rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM);
  RGT_TRUE(error || sum == size);
  return error;
}

static double queue_left(const rg_walker *walker, void *context) {
  const queue_context *c = context;
  const queue_state *s = walker->state;
  if (walker->id == 0 && c->stays && s->done < 20 * LONG)
    return atomic_load(begun) < c->children ? LONG : 0;
  return (double)(s->units - s->done);
}

static rg_balancer made(const char *name, int group, queue_context *c) {
  rg_policy policy = {.size = sizeof policy};
  rg_walker_kind kind = {.size = sizeof kind,
                         .bytes = sizeof(queue_state),
                         .unit = queue_unit,
                         .left = queue_left,
                         .context = c};
  rg_balance_options o = {.size = sizeof o, .policy = &policy, .group = group};
  rg_balancer b = NULL;
  RGT_OK(rg_policy_parse(name, &policy));
  RGT_OK(rg_balance_create(world, &kind, &o, &b));
  c->b = b;
  MPI_Barrier(MPI_COMM_WORLD);
  atomic_store(begun, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  return b;
}

static void run_all(const queue_context *context, int walkers) {
  rg_balancer b = context->b;
  int64_t count;
  const rg_balance_outcome *all;
  RGT_OK(rg_balance_run(b));
  RGT_OK(rg_balance_gather(b, 0));
  RGT_OK(rg_balance_outcomes(b, &count, &all));
  for (int i = 0; i < count && rgt_rank == 0; i++) {
    const queue_state *s = all[i].state;
    RGT_INT(all[i].error, RG_SUCCESS);
    if (RGT_PTR_NOT_NULL(s) && !(context->stays && all[i].id == 0))
      RGT_INT(s->done, s->units);
  }
  if (rgt_rank == 0)
    RGT_INT(count, walkers);
  RGT_OK(rg_balance_free(&b));
}

/* --- tests ----------------------------------------------------------------------------------- */

/* As many walkers as ranks, for one process each, in one group at first: all work at once. */
static void test_most(void) {
  for (int p = 0; p < POLICIES; p++) {
    queue_context c = {.together = rgt_size};
    made(policies[p], rgt_size, &c);
    for (int w = 0; w < rgt_size; w++)
      add_child(&c, w, &(queue_state){.most = 1, .units = 2});
    run_all(&c, rgt_size);
  }
}

/* The group of all processes becomes idle: it divides among the walkers that its last unit has
 * made. */
static void test_idle_divides(void) {
  static const char *const able[] = {"share-out", "release", "share-out:i=1"};
  for (int p = 0; p < 3; p++) {
    queue_context c = {.together = rgt_size, .children = rgt_size, .child = {.units = 3}};
    made(able[p], rgt_size, &c);
    add_child(&c, 0, &(queue_state){.units = 1});
    run_all(&c, rgt_size + 1);
  }
}

/* The group of all processes is at work: it spares members for walkers that wait, all but one. */
static void test_active_spares(void) {
  static const char *const able[] = {"share-out", "release", "share-out:i=1"};
  for (int p = 0; p < 3 && rgt_size > 1; p++) {
    queue_context c = {.together = rgt_size - 1,
                       .children = rgt_size - 1,
                       .child = {.units = 3},
                       .stays = 1,
                       .left_of_child = LONG};
    made(able[p], rgt_size, &c);
    add_child(&c, 0, &(queue_state){.units = LONG});
    run_all(&c, rgt_size);
  }
}

/* Groups of one process each, and a walker that needs all of them. */
static void test_gathers(void) {
  for (int p = 0; p < POLICIES; p++) {
    queue_context c = {.children = 2, .child = {.least = rgt_size, .units = 3}};
    made(policies[p], 1, &c);
    for (int w = 0; w < rgt_size; w++)
      add_child(&c, w, &(queue_state){.units = 1 + w % 3});
    run_all(&c, rgt_size + 2);
  }
}

/* The last group at first is too small for its walker, which waits. */
static void test_last_group(void) {
  for (int p = 0; p < POLICIES; p++)
    for (int group = 1; group <= rgt_size; group++) {
      queue_context c = {0};
      made(policies[p], group, &c);
      for (int w = 0; w < 5; w++)
        add_child(&c, w, &(queue_state){.units = 3, .least = group});
      run_all(&c, 5);
    }
}

static void test_random(void) {
  for (int p = 0; p < POLICIES; p++)
    for (int group = 0; group < 3; group++) {
      queue_context c = {.chance = 2};
      made(policies[p], group, &c);
      for (int w = 0; w < 9; w++) {
        queue_state s = drawn_state(w + 1000 * p, rgt_size);
        add_child(&c, w, &s);
      }
      run_all(&c, 27);
    }
}

static void test_wrong(void) {
  static const struct { int least, most; } wrong[] = {{3, 2}, {-1, 0}, {0, -1}, {1000, 0}};
  queue_context c = {0};
  rg_balancer b = made("default", 0, &c);
  for (int i = 0; i < 4; i++)
    RGT_FAILS(rg_balance_add(b, &(rg_walker_new){.size = sizeof(rg_walker_new),
                                                 .id = 5,
                                                 .left = 1,
                                                 .least = wrong[i].least,
                                                 .most = wrong[i].most}),
              RG_ERR_ARG);
  RGT_TRUE(strstr(rg_error_detail(), "walker 5 needs at least 1000 processes") != NULL);
  RGT_OK(rg_balance_free(&b));
}

/* --- the frame -------------------------------------------------------------------------------- */

static void open_all(void) {
  int unit;
  MPI_Aint bytes;
  void *memory;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
  MPI_Win_allocate_shared(rgt_rank ? 0 : sizeof *begun, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                          &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &begun);
}

static void close_all(void) {
  MPI_Win_free(&window);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"begin", open_all},
                                   {"most", test_most},
                                   {"an idle group divides", test_idle_divides},
                                   {"an active group spares", test_active_spares},
                                   {"idle groups gather", test_gathers},
                                   {"last group", test_last_group},
                                   {"random", test_random},
                                   {"wrong limits", test_wrong},
                                   {"end", close_all},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "balance-queue", tests);
}

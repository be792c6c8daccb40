/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * env: RG_TIMEOUT=60 RG_DIRECT=0
 * The root of a broadcast or scatter inside a node: it goes on before any other member has begun,
 * as far as there is room, as a member that only sends in a short reduce does; and no member leaves
 * the barrier that follows before it, where processes outnumber processors. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "base/clock.h"
#include "collectives/node/node_coll.h"
#include "collectives/shared/shared_state.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "tests/check/check.h"
#include "tests/collectives/ways.h"

enum { TAG = 1 };

static rg_group world;
static rgi_shared_state *l;

static void begin(int oversubscribed) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  rgi_node.oversubscribed = oversubscribed;
  RGT_OK(rg_group_world(&world));
  RGT_OK(rgi_shared_state_make(world, &l));
}

static void end(void) {
  rgi_shared_state_free(l);
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

/* --- the root goes on ------------------------------------------------------------------- */

static char byte_of(int member, size_t i) {
  return (char)(member * 31 + (int)(i % 251));
}

/* The others are told by a message that the root has ended all these calls; only then they begin.
 */
static void await_root(int root) {
  int word = 0;
  if (rgt_rank != root)
    MPI_Recv(&word, 1, MPI_INT, root, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tell_others(int root) {
  for (int to = 0; to < rgt_size && rgt_rank == root; to++)
    if (to != root)
      MPI_Send(&root, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

static void check_scatter(size_t bytes, int calls, int root) {
  char *in = malloc((size_t)rgt_size * bytes), *out = calloc(bytes, 1);
  size_t wrong = 0;
  for (size_t i = 0; i < (size_t)rgt_size * bytes; i++)
    in[i] = byte_of((int)(i / bytes), i % bytes);
  RGT_OK(rgi_node_coll_barrier(l, "test"));
  await_root(root);
  for (int k = 0; k < calls; k++)
    RGT_OK(ways_scatter(l, &(rgi_node_coll_blocks){in, out, bytes, root, "test", 0}));
  tell_others(root);
  for (size_t i = 0; i < bytes; i++)
    wrong += out[i] != byte_of(rgt_rank, i);
  RGT_INT(wrong, 0);
  free(in);
  free(out);
}

static void check_bcast(size_t bytes, int calls, int root) {
  char *data = calloc(bytes, 1);
  size_t wrong = 0;
  for (size_t i = 0; i < bytes && rgt_rank == root; i++)
    data[i] = byte_of(root, i);
  RGT_OK(rgi_node_coll_barrier(l, "test"));
  await_root(root);
  for (int k = 0; k < calls; k++)
    RGT_OK(ways_bcast(l, data, bytes, root));
  tell_others(root);
  for (size_t i = 0; i < bytes; i++)
    wrong += data[i] != byte_of(root, i);
  RGT_INT(wrong, 0);
  free(data);
}

/* The root begins when the others have ended their calls. */
static void check_reduce(int n, int root) {
  long in[1000], out[1000], wrong = 0;
  int word = 0;
  for (int i = 0; i < n; i++)
    in[i] = rgt_rank + i;
  RGT_OK(rgi_node_coll_barrier(l, "test"));
  for (int from = 0; from < rgt_size && rgt_rank == root; from++)
    if (from != root)
      MPI_Recv(&word, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (uint32_t k = 0; k < l->depth; k++) {
    rgi_node_coll_reduction r = {in,      out, (size_t)n, sizeof *in, MPI_LONG,
                                 MPI_SUM, 0,   root,      "test",     0};
    RGT_OK(ways_reduce(l, &r));
    for (int i = 0; i < n && rgt_rank == root; i++)
      wrong += out[i] != (long)rgt_size * (rgt_size - 1) / 2 + (long)rgt_size * i;
  }
  RGT_INT(wrong, 0);
  if (rgt_rank != root)
    MPI_Send(&word, 1, MPI_INT, root, TAG, MPI_COMM_WORLD);
}

static void test_goes_on(void) {
  const size_t most = RGI_SHM_CHUNKS * RGI_SHM_CHUNK;
  for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
    begin(oversubscribed);
    int depth = oversubscribed && rgt_size > 2 ? RGI_SHM_DEPTH : RGI_SHM_FEW;
    RGT_INT(l->depth, depth);
    for (int root = 0; root < rgt_size; root += rgt_size - 1) {
      check_scatter(8, depth, root);
      check_scatter(57, depth, root);
      check_scatter(RGI_SHM_SMALL, depth, root);
      check_scatter(RGI_SHM_SMALL + 1, RGI_SHM_CHUNKS, root);
      check_scatter(RGI_SHM_CHUNK, 1, root);
      check_scatter(most, 1, root);
      check_bcast(8, depth, root);
      check_bcast(RGI_SHM_SMALL, depth, root);
      check_bcast(most, 1, root);
      check_reduce(1, root);
      check_reduce(8, root);
      check_reduce(oversubscribed ? 1000 : 8, root);
    }
    end();
  }
}

/* Long and short ones in turn, from members that run ahead of one another: each gets what was given
 * in the step, though the chunks are used anew. */
static void check_mixed(int root) {
  static char data[RGI_SHM_SMALL + 1];
  const size_t lengths[] = {8, RGI_SHM_SMALL, RGI_SHM_SMALL + 1, 100};
  size_t wrong = 0;
  for (int k = 0; k < 20 * RGI_SHM_DEPTH; k++) {
    size_t n = lengths[(k + k / 7) % 4];
    if (rgt_rank != root && (k + 5 * rgt_rank) % 23 == 0)
      rgi_clock_sleep(1e-4);
    for (size_t i = 0; i < n; i++)
      data[i] = rgt_rank == root ? byte_of(k, i) : 0;
    RGT_OK(ways_bcast(l, data, n, root));
    for (size_t i = 0; i < n; i++)
      wrong += data[i] != byte_of(k, i);
  }
  RGT_INT(wrong, 0);
}

static void test_mixed(void) {
  for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
    begin(oversubscribed);
    check_mixed(0);
    check_mixed(rgt_size - 1);
    end();
  }
}

/* A member that only takes looks at all others now and then, as if it had done so for long. */
static void check_only_takes(void) {
  const uint32_t most = (uint32_t)1 << 30;
  char data[8] = {0};
  for (uint32_t k = 0; k < 6 * l->depth; k++) {
    RGT_OK(ways_bcast(l, data, sizeof data, 0));
    if (k == 3 * l->depth && rgt_rank > 0)
      l->safe = l->step - most - 100;
  }
  RGT_TRUE(l->step - l->safe <= most);
}

static void test_only_takes(void) {
  for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
    begin(oversubscribed);
    check_only_takes();
    end();
  }
}

/* --- who leaves a barrier first ------------------------------------------------------------- */

/* How often the root has been counted in at the next step. */
static uint32_t root_counts(void) {
  return atomic_load(rgi_shared_state_arrivals(l, 0, l->step + 1));
}

static double held; /* until then the root has stayed in its wait */

/* In the root's wait: until all members have come, and then for some time. */
static void hold_root(void) {
  rgi_bell *arrived = &rgi_shared_state_turn_of(l, l->step)->arrived;
  if (held > 0)
    return;
  while (atomic_load(&arrived->value) % (uint32_t)l->n)
    rgi_clock_sleep(1e-4);
  rgi_clock_sleep(20e-3);
  held = rgi_clock_now();
}

enum { GIVES_NOT, GIVES, GIVES_ELSEWHERE };

/* Returns whether the root has been held: not if all were there when it looked first. */
static int check_leaving(int gives) {
  char data[8] = {0};
  double left, first_held = 0, least = 0;
  held = 0;
  RGT_OK(rgi_node_coll_barrier(l, "test"));
  if (gives != GIVES_ELSEWHERE)
    RGT_OK(ways_bcast(l, data, sizeof data, gives == GIVES ? 0 : 1));
  else if (rgt_rank == 0)
    rgi_node_coll_note_given(l);
  uint32_t before = root_counts();
  MPI_Barrier(MPI_COMM_WORLD); /* each has looked */
  rgi_wait_meanwhile = rgt_rank == 0 ? hold_root : NULL;
  while (rgt_rank != 0 && root_counts() == before)
    rgi_clock_sleep(1e-4);
  RGT_OK(rgi_node_coll_barrier(l, "test"));
  left = rgi_clock_now();
  rgi_wait_meanwhile = NULL;
  MPI_Allreduce(&held, &first_held, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&left, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (gives)
    RGT_TRUE(least >= first_held);
  return first_held > 0;
}

static void test_leaves_first(void) {
  begin(1);
  int seen = 0, elsewhere = 0;
  for (int turn = 0; turn < 100 && seen < 4; turn++) {
    seen += check_leaving(GIVES);
    check_leaving(GIVES_NOT); /* the last member to arrive releases the barrier */
  }
  for (int turn = 0; turn < 100 && elsewhere < 4; turn++)
    elsewhere += check_leaving(GIVES_ELSEWHERE);
  RGT_INT(seen, 4);
  RGT_INT(elsewhere, 4);
  end();
}

/* One in shared memory, and another one elsewhere behind it: both release the barrier, and the one
 * that comes before the other is woken. */
static void test_two_roots(void) {
  char data[8] = {0};
  begin(1);
  for (int turn = 0; turn < 40; turn++) {
    RGT_OK(ways_bcast(l, data, sizeof data, 1));
    if (rgt_rank == 0)
      rgi_node_coll_note_given(l);
    if (rgt_rank == turn % rgt_size)
      rgi_clock_sleep(2e-3);
    RGT_OK(rgi_node_coll_barrier(l, "test"));
  }
  end();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"the root goes on", test_goes_on},
                                   {"long and short in turn", test_mixed},
                                   {"a member only takes", test_only_takes},
                                   {"the root leaves first", test_leaves_first},
                                   {"two roots", test_two_roots},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "shm_root", tests);
}

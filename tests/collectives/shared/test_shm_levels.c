/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 3 9 12 16
 * few: 3 9
 * env: RG_OVERSUBSCRIBED=no RG_WAIT=yield RG_TIMEOUT=100
 * Collectives inside a node by levels: the tree of random placements; random sequences of
 * operations, in which no member waits for another one but by the operations themselves, against
 * their definitions. The machine is a pretended one. */
#include <mpi.h>
#include <regroup.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "collectives/shared/levels.h"
#include "shm/node.h"
#include "tests/check/check.h"

static unsigned below(unsigned n) {
  return (unsigned)random() % n;
}

/* --- the tree -------------------------------------------------------------------------- */

static int depth_of(const int parent[], int i) {
  int depth = 0;
  for (; parent[i] >= 0; i = parent[i])
    depth++;
  return depth;
}

/* A member whose parent is on another cache leads a run of its own cache's members; one whose
 * parent is in another socket leads a run of its socket's. */
static int leads(int n, const rgi_node_cache at[], const int parent[], int i, int by_socket) {
  int before = 0;
  for (int j = 0; j < i; j++)
    if (by_socket)
      before +=
          at[j].socket == at[i].socket && (parent[j] < 0 || at[parent[j]].cache != at[j].cache);
    else
      before += at[j].cache == at[i].cache;
  (void)n;
  return before % RGI_LEVELS_FAN == 0;
}

static void check_tree(int n, const rgi_node_cache at[], const int parent[]) {
  int wrong = 0, *children = calloc((size_t)n, sizeof *children);
  RGT_INT(parent[0], -1);
  for (int i = 1; i < n; i++) {
    int p = parent[i];
    wrong += p < 0 || p >= i;
    if (p < 0 || p >= i)
      break;
    children[p]++;
    if (at[p].cache != at[i].cache)
      wrong += !leads(n, at, parent, i, 0);
    if (at[p].socket != at[i].socket)
      wrong += !leads(n, at, parent, i, 1);
    wrong += depth_of(parent, i) > 5;
  }
  for (int i = 0; i < n; i++)
    wrong += children[i] > 5 * (RGI_LEVELS_FAN - 1);
  RGT_INT(wrong, 0);
  free(children);
}

static void test_tree(void) {
  rgi_node_cache at[300];
  int parent[300];
  srandom((unsigned)rgt_seed());
  for (int turn = 0; turn < 200; turn++) {
    int n = 1 + (int)below(300), sockets = 1 + (int)below(4), caches = 1 + (int)below(8);
    for (int i = 0; i < n; i++) {
      int socket = (int)below((unsigned)sockets);
      at[i] = (rgi_node_cache){socket, socket * caches + (int)below((unsigned)caches)};
    }
    RGT_OK(rgi_levels_parents(n, at, parent));
    check_tree(n, at, parent);
  }
  RGT_OK(rgi_levels_parents(128, NULL, parent)); /* not known: 8 runs of 16 */
  for (int i = 1; i < 128; i++)
    RGT_INT(parent[i], i % 16 ? i - i % 16 : 0);
}

/* --- the operations --------------------------------------------------------------------- */

enum { LONGS = 1200, TURNS = 300 };

static rg_group groups[3];
static long in[LONGS], out[LONGS], every[16 * LONGS];
static _Atomic long *come; /* of each rank, the barriers that it has come to */
static MPI_Win win;

/* The values first, first + 1, ... */
static void fill(long *values, int n, long first) {
  for (int i = 0; i < n; i++)
    values[i] = first + i;
}

static void check_barrier(rg_group g, long turn) {
  long late = 0;
  int n, at;
  rg_group_size(g, &n);
  atomic_store(&come[rgt_rank], turn);
  RGT_OK(rg_barrier(g));
  for (int i = 0; i < n; i++) {
    RGT_OK(rg_group_translate(g, 1, &i, groups[0], &at));
    late += atomic_load(&come[at]) < turn;
  }
  RGT_INT(late, 0);
}

static void check_bcast(rg_group g, int n, int root, long turn) {
  int me;
  long wrong = 0;
  rg_group_rank(g, &me);
  fill(out, n, me == root ? turn * 1000 : -LONGS);
  RGT_OK(rg_bcast(g, out, n, MPI_LONG, root));
  for (int i = 0; i < n; i++)
    wrong += out[i] != turn * 1000 + i;
  RGT_INT(wrong, 0);
}

/* root -1: allreduce. Wanted: the sum, or the greatest, of me * turn + i. */
static void check_reduce(rg_group g, int n, int root, long turn, MPI_Op op) {
  int me, size;
  long wrong = 0;
  rg_group_rank(g, &me);
  rg_group_size(g, &size);
  fill(in, n, me * turn);
  if (root < 0)
    RGT_OK(rg_allreduce(g, in, out, n, MPI_LONG, op));
  else
    RGT_OK(rg_reduce(g, in, out, n, MPI_LONG, op, root));
  for (int i = 0; i < n && (root < 0 || root == me); i++)
    wrong += out[i] != (op == MPI_MAX ? (size - 1) * turn + i
                                      : (long)size * (size - 1) / 2 * turn + (long)size * i);
  RGT_INT(wrong, 0);
}

/* exscan: without the own one. */
static void check_scan(rg_group g, int n, long turn, int exscan) {
  int me;
  long wrong = 0;
  rg_group_rank(g, &me);
  long before = exscan ? me : me + 1;
  fill(in, n, me * turn);
  RGT_OK(exscan ? rg_exscan(g, in, out, n, MPI_LONG, MPI_SUM)
                : rg_scan(g, in, out, n, MPI_LONG, MPI_SUM));
  for (int i = 0; i < n && before > 0; i++)
    wrong += out[i] != before * (before - 1) / 2 * turn + before * i;
  RGT_INT(wrong, 0);
}

static void check_allgather(rg_group g, int n, long turn) {
  int me, size;
  long wrong = 0;
  rg_group_rank(g, &me);
  rg_group_size(g, &size);
  fill(in, n, me * turn);
  RGT_OK(rg_allgather(g, in, n, MPI_LONG, every, n, MPI_LONG));
  for (int i = 0; i < n * size; i++)
    wrong += every[i] != i / n * turn + i % n;
  RGT_INT(wrong, 0);
}

static void check_scatter(rg_group g, int n, int root, long turn) {
  int me;
  long wrong = 0;
  rg_group_rank(g, &me);
  fill(every, n * rgt_size, me == root ? turn : -LONGS);
  RGT_OK(rg_scatter(g, every, n, MPI_LONG, out, n, MPI_LONG, root));
  for (int i = 0; i < n; i++)
    wrong += out[i] != turn + me * n + i;
  RGT_INT(wrong, 0);
}

/* Operations in which members may run ahead of others, one after another; one member is late. */
static void check_stream(rg_group g, int n, int root, long turn) {
  int late = (int)below((unsigned)rgt_size), when = (int)below(40), kind = (int)below(4);
  for (int k = 0; k < 40; k++) {
    if (k == when && rgt_rank == late)
      rgi_clock_sleep(5e-3);
    if (kind == 0)
      check_bcast(g, n, root, turn * 100 + k);
    else if (kind == 1)
      check_reduce(g, n, root, turn * 100 + k, MPI_SUM);
    else
      check_scan(g, n, turn * 100 + k, kind == 2);
  }
}

/* All ranks draw the same: an operation, a group that all are in, a length, a root. */
static void check_one(long turn) {
  const int lengths[] = {1, 2, 6, 7, 8, 20, 128, 129, 1000, LONGS};
  rg_group g = groups[below(3)];
  int n = lengths[below(10)], root = (int)below((unsigned)rgt_size), what = (int)below(12);
  switch (what) {
  case 0:
    check_barrier(g, turn);
    break;
  case 1:
  case 2:
    check_bcast(g, n, below(2) ? root : 0, turn);
    break;
  case 3:
  case 4:
    check_reduce(g, n, below(2) ? root : 0, turn, below(2) ? MPI_SUM : MPI_MAX);
    break;
  case 5:
  case 6:
    check_reduce(g, n, -1, turn, below(2) ? MPI_SUM : MPI_MAX);
    break;
  case 7:
    check_stream(g, n > 128 ? 128 : n, below(2) ? root : 0, turn);
    break;
  case 8:
  case 9:
    check_scan(g, n, turn, what == 8);
    break;
  case 10:
    check_scatter(g, n, root, turn);
    break;
  default:
    check_allgather(g, n, turn);
  }
}

static void test_operations(void) {
  int *ranks = malloc((size_t)rgt_size * sizeof *ranks);
  _Atomic long *mine;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_INT(rgi_node.oversubscribed, 0);
  RGT_TRUE((rgi_node.caches != NULL) == (rgt_size > RGI_NODE_FLAT));
  for (int i = 0; rgi_node.caches && i < rgt_size; i++) {
    RGT_INT(rgi_node.caches[i].cache - rgi_node.caches[0].cache, i % 16 / 4);
    RGT_INT(rgi_node.caches[i].socket - rgi_node.caches[0].socket, i % 16 / 8);
  }
  MPI_Win_allocate_shared(sizeof *come, sizeof *come, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(win, 0, &bytes, &unit, &come);
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = rgt_size - 1 - i;
  RGT_OK(rg_group_world(&groups[0]));
  RGT_OK(rg_group_create(groups[0], rgt_size, ranks, 1, &groups[1])); /* in another order */
  RGT_OK(rg_group_dup(groups[0], &groups[2])); /* shares the memory of the first */
  srandom((unsigned)rgt_seed() + 1);
  for (long turn = 1; turn <= TURNS; turn++)
    check_one(turn);
  for (int i = 2; i >= 0; i--)
    RGT_OK(rg_group_free(&groups[i]));
  RGT_OK(rg_finalize());
  MPI_Win_free(&win);
  free(ranks);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"tree", test_tree}, {"operations", test_operations}, {NULL, NULL}};
  setenv("RG_TOPOLOGY", "pack:2 l3:2 core:4 pu:1", 1);
  setenv("RG_BIND", "compact", 1);
  return rgt_main(argc, argv, "shm_levels", tests);
}

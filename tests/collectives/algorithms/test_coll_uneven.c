/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * env: RG_TIMEOUT=60 MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 4 7
 * sources: tests/collectives/cases.c tests/collectives/messages.c
 * wrap: rgi_message_send
 * Blocks of different sizes on several nodes: the messages between nodes, and sizes that do not
 * agree. test_coll_nodes.c checks the results. */
#include <stdlib.h>

#include "shm/node.h"
#include "tests/collectives/cases.h"
#include "tests/collectives/messages.h"

/* Around the size from which a block is a message of its own. */
static const MPI_Count sizes[] = {0, 3, 8192, 8193, 30000};
enum { SIZES = 5, SHORT = 3, LONG = 30000 };

static rg_group g;
static rg_request request;
static int *data, *all;
static MPI_Count counts[RANKS_MOST];
static MPI_Aint displs[RANKS_MOST];

static void start(void) {
  start_groups();
  g = groups[WORLD];
  RGT_OK(rg_group_set_algorithm(g, RG_OP_GATHERV, "hierarchical"));
  RGT_OK(rg_group_set_algorithm(g, RG_OP_SCATTERV, "hierarchical"));
  RGT_OK(rg_group_set_algorithm(g, RG_OP_ALLGATHERV, "hierarchical:ring"));
  for (int i = 0; i < rgt_size; i++)
    displs[i] = (MPI_Aint)i * (LONG + 1);
  data = calloc(LONG, sizeof *data);
  all = calloc((size_t)rgt_size * (LONG + 1), sizeof *all);
}

static void stop(void) {
  free(data);
  free(all);
  stop_groups();
}

static void each_has(MPI_Count n) {
  for (int i = 0; i < rgt_size; i++)
    counts[i] = n;
}

static int elsewhere(int root) {
  int n = 0;
  for (int i = 0; i < rgt_size; i++)
    n += rgi_node_of(i) != rgi_node_of(root);
  return n;
}

static void test_traffic(void) {
  int nodes = rgi_node.count;
  if (!RGT_TRUE(nodes > 1))
    return;
  for (int i = 0; i < 2 * rgt_size; i++) {
    int root = i / 2, is_long = i % 2, straight = is_long ? elsewhere(root) : 0;
    each_has(is_long ? LONG : SHORT);
    long before = messages_between_all();
    RGT_OK(rg_gatherv(g, data, counts[0], MPI_INT, all, counts, displs, MPI_INT, root));
    RGT_INT(messages_between_all() - before, nodes - 1 + straight);
    before = messages_between_all();
    RGT_OK(rg_scatterv(g, all, counts, displs, MPI_INT, data, counts[0], MPI_INT, root));
    RGT_INT(messages_between_all() - before, (is_long ? 1 : 2) * (nodes - 1) + straight);
    before = messages_between_all();
    RGT_OK(rg_allgatherv(g, data, counts[0], MPI_INT, all, counts, displs, MPI_INT));
    RGT_INT(messages_between_all() - before, nodes * (nodes - 1));
  }
}

/* The operation that failed leaves nothing behind. */
static void expect_work(void) {
  int sum = 1;
  RGT_OK(rg_allreduce(g, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
}

static int ends(int error) {
  return error || !request ? error : rg_wait(&request, NULL);
}

static void expect_error(int error, int wrong) {
  if (wrong)
    RGT_TRUE(error == RG_ERR_TRUNCATE || error == RG_ERR_MISMATCH);
  else
    RGT_OK(error);
}

/* One rank and the root do not agree on the size of its block. */
static void differ(int odd, int root, MPI_Count root_has, MPI_Count odd_has, int blocking) {
  MPI_Count mine = rgt_rank == odd ? odd_has : SHORT;
  int wrong = root_has != odd_has, error;
  each_has(SHORT);
  if (rgt_rank == root)
    counts[odd] = root_has;
  error = blocking
              ? rg_gatherv(g, data, mine, MPI_INT, all, counts, displs, MPI_INT, root)
              : rg_igatherv(g, data, mine, MPI_INT, all, counts, displs, MPI_INT, root, &request);
  expect_error(ends(error), wrong && rgt_rank == root);
  error = blocking
              ? rg_scatterv(g, all, counts, displs, MPI_INT, data, mine, MPI_INT, root)
              : rg_iscatterv(g, all, counts, displs, MPI_INT, data, mine, MPI_INT, root, &request);
  expect_error(ends(error), wrong && rgt_rank == odd);
  expect_work();
}

static void test_lengths(void) {
  for (int i = 0; i < SIZES * SIZES; i++)
    for (int odd = 1; odd < rgt_size; odd++)
      differ(odd, 0, sizes[i / SIZES], sizes[i % SIZES], (i + odd) % 2);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start},
                                   {"traffic between nodes", test_traffic},
                                   {"lengths that differ", test_lengths},
                                   {"stop", stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_uneven", tests);
}

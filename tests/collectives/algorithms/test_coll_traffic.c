/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2
 * env: RG_TIMEOUT=60 MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 4 8
 * sources: tests/collectives/cases.c tests/collectives/messages.c
 * wrap: rgi_message_send
 * What is sent between two pretended nodes, by block and cyclic placement; and
 * the hierarchical algorithms with all algorithms between the nodes and inside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/node.h"
#include "tests/collectives/cases.h"
#include "tests/collectives/messages.h"

#define WORDS (1 << 17) /* 1 MiB of doubles */

/* All processes, node by node or one from each in turn. */
static rg_group placed(int cyclic) {
  int ranks[RANKS_MOST], n = 0, taken[RANKS_MOST] = {0};
  rg_group g;
  while (n < rgt_size) {
    int want = cyclic && n ? rgi_node_of(ranks[n - 1]) : -1, next = -1;
    for (int r = 0; r < rgt_size && next < 0; r++)
      if (!taken[r] &&
          (cyclic ? rgi_node_of(r) != want : !n || rgi_node_of(r) == rgi_node_of(ranks[n - 1])))
        next = r;
    for (int r = 0; r < rgt_size && next < 0; r++)
      if (!taken[r])
        next = r;
    taken[ranks[n++] = next] = 1;
  }
  RGT_OK(rg_group_create(groups[WORLD], rgt_size, ranks, 40 + cyclic, &g));
  return g;
}

static void test_traffic(void) {
  double *x = calloc(WORDS, sizeof *x);
  RGT_INT(rgi_node.count, 2);
  for (int cyclic = 0; cyclic < 2; cyclic++) {
    rg_group g = placed(cyclic);
    for (int root = 0; root < rgt_size; root++) {
      long before = messages_between_all();
      RGT_OK(rg_bcast(g, x, WORDS, MPI_DOUBLE, root));
      RGT_INT(messages_between_all() - before, 1); /* one message: one copy */
      before = messages_between_all();
      RGT_OK(rg_reduce(g, x, x + WORDS / 2, WORDS / 2, MPI_DOUBLE, MPI_SUM, root));
      RGT_TRUE(messages_between_all() - before == 1 ||
               messages_between_all() - before == 3); /* or halves: 2 there, 1 back */
    }
    long before = messages_between_all();
    RGT_OK(rg_allreduce(g, MPI_IN_PLACE, x, WORDS, MPI_DOUBLE, MPI_SUM));
    /* Each way a copy, in one message or two halves there and back. */
    RGT_TRUE(messages_between_all() - before == 2 || messages_between_all() - before == 4);
    before = messages_between_all();
    RGT_OK(rg_barrier(g));
    RGT_INT(messages_between_all() - before, 2);
    RGT_OK(rg_group_free(&g));
  }
  free(x);
}

/* hierarchical:BETWEEN:INSIDE for all names that fit. */
static void test_names(void) {
  rg_group g = placed(0);
  static const char *const names[] = {"linear", "binomial", "pipelined", "scatter-allgather"};
  static const char *const sums[] = {"tree", "butterfly", "rabenseifner", "ring"};
  static const char *const folds[] = {"linear", "tree", "rabenseifner"};
  char name[80];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      int data[500], n = 1 + draw(500), root = draw(rgt_size), rank;
      rg_group_rank(g, &rank);
      snprintf(name, sizeof name, "hierarchical:%s:%s", names[i], names[j]);
      RGT_OK(rg_group_set_algorithm(g, RG_OP_BCAST, name));
      for (int k = 0; k < n; k++)
        data[k] = rank == root ? k : -1;
      RGT_OK(rg_bcast(g, data, n, MPI_INT, root));
      for (int k = 0; k < n; k++)
        if (data[k] != k)
          RGT_INT(data[k], k);
      snprintf(name, sizeof name, "hierarchical:%s:%s", sums[i], folds[j % 3]);
      RGT_OK(rg_group_set_algorithm(g, RG_OP_ALLREDUCE, name));
      for (int k = 0; k < n; k++)
        data[k] = k + rank;
      RGT_OK(rg_allreduce(g, MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM));
      for (int k = 0; k < n; k++)
        if (data[k] != rgt_size * k + rgt_size * (rgt_size - 1) / 2)
          RGT_INT(data[k], rgt_size * k + rgt_size * (rgt_size - 1) / 2);
    }
  RGT_OK(rg_group_free(&g));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start_groups},
                                   {"traffic between nodes", test_traffic},
                                   {"algorithms by level", test_names},
                                   {"stop", stop_groups},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_traffic", tests);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * The numbers of the nodes: in the order of their lowest world ranks, the same on all ranks. */
#include <mpi.h>
#include <regroup.h>

#include "shm/node.h"
#include "tests/check/check.h"

static void test_number(void) {
  int of[] = {5, 2, 5, 0, 2, 7, 0}, right[] = {0, 1, 0, 2, 1, 3, 2}, all_one[] = {3, 3};
  RGT_INT(rgi_node_number(of, 7, 8), 4);
  for (int i = 0; i < 7; i++)
    RGT_INT(of[i], right[i]);
  RGT_INT(rgi_node_number(all_one, 2, 4), 1);
  RGT_INT(all_one[1], 0);
  RGT_INT(rgi_node_number(of, 0, 8), 0);
}

static void test_world(void) {
  int most = -1, lowest = rgt_rank;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  for (int i = 0; i < rgt_size; i++) {
    int node = rgi_node_of(i), same = -1;
    RGT_TRUE(node >= 0 && node <= most + 1 && node < rgi_node.count);
    most = node > most ? node : most;
    MPI_Allreduce(&node, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    RGT_INT(node, same);
    RGT_INT(node == rgi_node.mine, rgi_node_find(i) >= 0);
    if (node == rgi_node.mine && i < lowest)
      lowest = i;
  }
  RGT_INT(most + 1, rgi_node.count);
  RGT_INT(rgi_node_of(rgt_rank), rgi_node.mine);
  RGT_INT(rgi_node.ranks[0], lowest);
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"number", test_number}, {"world", test_world}, {NULL, NULL}};
  return rgt_main(argc, argv, "node", tests);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * Inside a node the automatic choice sends no message, and a forced algorithm is
 * used from the next call on. */
#include <mpi.h>
#include <regroup.h>

#include "message/message.h"
#include "shm/node.h"
#include "tests/check/check.h"

static rg_group g;

/* Messages of all members during one call of each operation. */
static long messages(void) {
  unsigned long inside, between, inside_after, between_after;
  double x = rgt_rank, sum = -1;
  rgi_message_count(&inside, &between);
  RGT_OK(rg_barrier(g));
  RGT_OK(rg_bcast(g, &x, 1, MPI_DOUBLE, rgt_size - 1));
  RGT_DBL(x, rgt_size - 1, 0);
  RGT_OK(rg_allreduce(g, &x, &sum, 1, MPI_DOUBLE, MPI_SUM));
  RGT_DBL(sum, (double)rgt_size * (rgt_size - 1), 0);
  sum = -1;
  RGT_OK(rg_reduce(g, &x, &sum, 1, MPI_DOUBLE, MPI_MAX, 0));
  RGT_DBL(sum, rgt_rank == 0 ? rgt_size - 1 : -1, 0);
  rgi_message_count(&inside_after, &between_after);
  long mine = (long)(inside_after - inside + between_after - between), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void force(const char *barrier, const char *bcast, const char *allreduce,
                  const char *reduce) {
  RGT_OK(rg_group_set_algorithm(g, RG_OP_BARRIER, barrier));
  RGT_OK(rg_group_set_algorithm(g, RG_OP_BCAST, bcast));
  RGT_OK(rg_group_set_algorithm(g, RG_OP_ALLREDUCE, allreduce));
  RGT_OK(rg_group_set_algorithm(g, RG_OP_REDUCE, reduce));
}

/* Messages of the linear barrier, broadcast and reduce and of the allreduce by a tree. */
static void test_forced(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&g));
  if (rgi_node.count == 1)
    RGT_INT(messages(), 0);
  force("linear", "linear", "tree", "linear");
  RGT_INT(messages(), (2 + 1 + 2 + 1) * (rgt_size - 1));
  force("auto", "auto", "auto", "auto");
  if (rgi_node.count == 1)
    RGT_INT(messages(), 0);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"forced and automatic", test_forced}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_fast_path", tests);
}

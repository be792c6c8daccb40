/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * sources: tests/collectives/messages.c
 * wrap: rgi_message_send rgi_call_run
 * Inside a node the automatic choice sends no message, unless messages cost less, and a forced
 * algorithm is used from the next call on. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectives/calls/call.h"
#include "runtime/tuning.h"
#include "shm/node.h"
#include "tests/check/check.h"
#include "tests/collectives/messages.h"

static rg_group g;

/* Messages of all members during one call of each operation. */
static long messages(void) {
  messages_sent before = messages_count(), after;
  double x = rgt_rank, sum = -1;
  RGT_OK(rg_barrier(g));
  RGT_OK(rg_bcast(g, &x, 1, MPI_DOUBLE, rgt_size - 1));
  RGT_DBL(x, rgt_size - 1, 0);
  RGT_OK(rg_allreduce(g, &x, &sum, 1, MPI_DOUBLE, MPI_SUM));
  RGT_DBL(sum, (double)rgt_size * (rgt_size - 1), 0);
  sum = -1;
  RGT_OK(rg_reduce(g, &x, &sum, 1, MPI_DOUBLE, MPI_MAX, 0));
  RGT_DBL(sum, rgt_rank == 0 ? rgt_size - 1 : -1, 0);
  after = messages_count();
  long mine = after.inside - before.inside + after.between - before.between, all = 0;
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

/* Starts the library with other costs. */
static void begin_with(const char *costs) {
  char path[] = "/tmp/regroup-test-XXXXXX";
  if (rgt_rank == 0) {
    FILE *f = fdopen(mkstemp(path), "w");
    fprintf(f, RGI_TUNING_HEAD "\n%s\n", costs);
    RGT_INT(fclose(f), 0);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  setenv("RG_TUNING", path, 1);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  unsetenv("RG_TUNING");
  RGT_OK(rg_group_world(&g));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    unlink(path);
}

/* Costs by which messages are better: the short way into shared memory is not taken. */
static void test_dear_memory(void) {
  begin_with("shared.t_s = 0.5");
  RGT_TRUE(messages() > 0);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
}

static int general;

int __real_rgi_call_run(rgi_call *c, const char *name);
int __wrap_rgi_call_run(rgi_call *c, const char *name);

int __wrap_rgi_call_run(rgi_call *call, const char *name) {
  general++;
  return __real_rgi_call_run(call, name);
}

/* Messages are better for long data only: short calls take the short way all the same, also beside
 * a member that cannot, and all members choose alike at each length. */
static void test_dear_bytes(void) {
  enum { LONGEST = 1 << 16 };
  static char data[LONGEST];
  long before, sent, all;
  begin_with("shared.t_w = 5e-9");
  general = 0;
  sent = messages();
  RGT_TRUE(rgi_node.count > 1 || (sent == 0 && general == 0));
  for (int bytes = 1; bytes <= LONGEST; bytes += bytes / 3 + 1) {
    MPI_Datatype whole;
    MPI_Type_contiguous(bytes, MPI_BYTE, &whole);
    MPI_Type_commit(&whole);
    before = messages_count().inside;
    data[bytes - 1] = rgt_rank == 0 ? (char)bytes : 0;
    RGT_OK(rgt_rank == rgt_size - 1 ? rg_bcast(g, data, 1, whole, 0)
                                    : rg_bcast(g, data, bytes, MPI_BYTE, 0));
    RGT_INT(data[bytes - 1], (char)bytes);
    sent = messages_count().inside - before;
    MPI_Allreduce(&sent, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    RGT_TRUE(rgi_node.count > 1 || (bytes < 10 ? all == 0 : bytes < 10000 || all > 0));
    MPI_Type_free(&whole);
  }
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"forced and automatic", test_forced},
                                   {"memory that costs more than messages", test_dear_memory},
                                   {"bytes in memory that cost more", test_dear_bytes},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "coll_fast_path", tests);
}

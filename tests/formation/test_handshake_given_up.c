/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The leader of a merge gives up, for a death in its group, when the other leader has its packet
 * already: the other group gets an error at once. Both merge again, where each may meet the other
 * one's attempt that has failed.
 *
 * env: RGT_THREADS=single
 * ranks: 2 3 4
 * wrap: rgi_group_tree_receive_any rgi_group_tree_receive */
#include <regroup.h>

#include "base/error.h"
#include "check.h"
#include "formation/group_tree.h"

static int gives_up;

/* Leader 0 waits for the other one's packet. */
int __real_rgi_group_tree_receive_any(const rgi_message_envelope wanted[], int n, const char *call,
                                      int *source, int *count, int **ints);
int __wrap_rgi_group_tree_receive_any(const rgi_message_envelope wanted[], int n, const char *call,
                                      int *source, int *count, int **ints);
int __wrap_rgi_group_tree_receive_any(const rgi_message_envelope wanted[], int n, const char *call,
                                      int *source, int *count, int **ints) {
  if (!gives_up || rgt_rank > 0)
    return __real_rgi_group_tree_receive_any(wanted, n, call, source, count, ints);
  MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return rgi_error(RG_ERR_PROC_FAILED, "a death");
}

/* Leader 1 waits for the other one's verdict. */
int __real_rgi_group_tree_receive(uint64_t context, int source, int tag, const char *call,
                                  int *count, int **ints);
int __wrap_rgi_group_tree_receive(uint64_t context, int source, int tag, const char *call,
                                  int *count, int **ints);
int __wrap_rgi_group_tree_receive(uint64_t context, int source, int tag, const char *call,
                                  int *count, int **ints) {
  if (gives_up)
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  return __real_rgi_group_tree_receive(context, source, tag, call, count, ints);
}

static void test_given_up(void) {
  rg_group world, mine, both = NULL;
  int high = rgt_rank > 0, sum = 1, error;
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=20"));
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_group_create_range(world, high, high ? rgt_size - 1 : 0, 1, 0, &mine));
  gives_up = 1;
  RGT_FAILS(rg_group_merge(mine, world, !high, high, 0, &both),
            high ? RG_ERR_REVOKED : RG_ERR_PROC_FAILED);
  gives_up = 0;
  for (error = RG_ERR_REVOKED; error == RG_ERR_REVOKED;)
    error = rg_group_merge(mine, world, !high, high, 0, &both);
  RGT_OK(error);
  RGT_OK(rg_allreduce(both, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, rgt_size);
  RGT_OK(rg_group_free(&both));
  RGT_OK(rg_group_free(&mine));
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"a leader that gives up", test_given_up}, {NULL, NULL}};
  return rgt_main(argc, argv, "handshake_given_up", tests);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The leader of a merge gives up, for a death in its group, when the other leader has its packet
 * already: the other group gets an error at once. Both merge again, where each may meet the other
 * one's attempt that has failed.
 *
 * env: RGT_THREADS=single
 * ranks: 2 3 4
 * wrap: rgi_group_tree_receive_into */
#include <regroup.h>

#include "base/error.h"
#include "check.h"
#include "formation/group_tree.h"

static int gives_up;

/* Leader 0 waits for the other one's packet, which may have either of two tags; leader 1 waits for
 * the other one's verdict. */
int __real_rgi_group_tree_receive_into(const rgi_message_envelope wanted[], int n, const char *call,
                                       int room, int ints[], int *source, int *count);
int __wrap_rgi_group_tree_receive_into(const rgi_message_envelope wanted[], int n, const char *call,
                                       int room, int ints[], int *source, int *count);
int __wrap_rgi_group_tree_receive_into(const rgi_message_envelope wanted[], int n, const char *call,
                                       int room, int ints[], int *source, int *count) {
  if (gives_up && rgt_rank == 0 && n == 2) {
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return rgi_error(RG_ERR_PROC_FAILED, "a death");
  }
  if (gives_up && rgt_rank == 1 && n == 1 && wanted->peer == 0)
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  return __real_rgi_group_tree_receive_into(wanted, n, call, room, ints, source, count);
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

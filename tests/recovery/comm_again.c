/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_survivors_nodes.py starts, with RG_SURVIVE=1: comm_again RANK.... These ranks
 * of the world are killed; the survivors' group gives a communicator, on which MPI's own
 * calls work. Its rank 0 prints "COMM members". */
#include "ranks.h"

#define ROUNDS 50
#define COUNT 5000 /* of ints; MPI sends so many another way than a few */

static void use(MPI_Comm comm, int n, int me) {
  static int in[COUNT], out[COUNT];
  int size, rank, right = (me + 1) % n, left = (me + n - 1) % n;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  must(size == n && rank == me, "the communicator has other ranks than the group");
  for (int round = 0; round < ROUNDS; round++) {
    int count = round % 2 ? COUNT : 1, sum = 0;
    for (int i = 0; i < count; i++)
      in[i] = me + round + i;
    MPI_Allreduce(in, &sum, 1, MPI_INT, MPI_SUM, comm);
    must(sum == n * (n - 1) / 2 + n * round, "MPI_Allreduce is wrong");
    MPI_Sendrecv(in, count, MPI_INT, right, 1, out, count, MPI_INT, left, 1, comm,
                 MPI_STATUS_IGNORE);
    must(out[count - 1] == left + round + count - 1, "MPI_Sendrecv is wrong");
    MPI_Bcast(out, count, MPI_INT, round % n, comm);
    must(out[0] == (round % n + n - 1) % n + round, "MPI_Bcast is wrong");
  }
}

int main(int argc, char **argv) {
  rg_group world, next;
  MPI_Comm comm;
  int error, n, me, failed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  must(!rg_init(MPI_COMM_WORLD, NULL) && !rg_group_world(&world), "rg_init");
  error = rg_barrier(world);
  for (int i = 1; i < argc; i++)
    if (atoi(argv[i]) == my_rank)
      raise(SIGKILL);
  while (failed < argc - 1) {
    error = rg_barrier(world);
    must(!error || error == RG_ERR_PROC_FAILED, "rg_barrier");
    must(!rg_group_failed(world, 0, NULL, &failed), "rg_group_failed");
  }
  must(!rg_group_shrink(world, &next), "rg_group_shrink");
  rg_group_rank(next, &me);
  rg_group_size(next, &n);
  must(!rg_group_comm(next, &comm), "rg_group_comm");
  use(comm, n, me);
  must(!rg_barrier(next), "rg_barrier of the survivors");
  if (me == 0)
    printf("COMM %d\n", n);
  rg_group_free(&next);
  rg_group_free(&world);
  must(!rg_finalize(), "rg_finalize");
  MPI_Finalize();
  return 0;
}

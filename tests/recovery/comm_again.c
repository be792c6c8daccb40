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
  rg_group g = enter_world(&argc, &argv);
  MPI_Comm comm;
  int failed = 0;
  all_here(g);
  for (int i = 1; i < argc; i++)
    if (atoi(argv[i]) == my_rank)
      raise(SIGKILL);
  while (failed < argc - 1) {
    all_here(g);
    must(!rg_group_failed(g, 0, NULL, &failed), "rg_group_failed");
  }
  drop_dead(&g);
  must(!rg_group_comm(g, &comm), "rg_group_comm");
  use(comm, size_of(g), rank_in(g));
  must(!rg_barrier(g), "rg_barrier of the survivors");
  if (rank_in(g) == 0)
    printf("COMM %d\n", size_of(g));
  leave_world(&g);
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Wrong calls, in which one member means another length, and right ones after each. The next call
 * has the right result if all members wait for one another in it, on this communicator as on
 * others. Arguments: seed, rounds. */
#include <stdlib.h>

#include "plain.h"

enum { LONG = 3000 };

static int in[64 * LONG], out[64 * LONG];

/* Returns nothing: which members get an error is a matter of time. */
static void wrong_call(MPI_Comm comm, int kind, int count, int root) {
  switch (kind) {
  case 0:
    MPI_Bcast(in, count, MPI_INT, root, comm);
    break;
  case 1:
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    break;
  case 2:
    MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_INT, MPI_SUM, comm);
    break;
  case 3:
    MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
    break;
  case 4:
    MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm);
    break;
  case 5:
    MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm);
    break;
  case 6:
    MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm);
    break;
  case 7:
    MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
    break;
  default:
    MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
  }
}

static int right_calls(MPI_Comm comm, int rank, int size, int count) {
  int wrong = 0;
  for (int i = 0; i < count; i++)
    in[i] = rank + i;
  int code = MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; i++)
    wrong += code != MPI_SUCCESS || out[i] != size * (size - 1) / 2 + size * i;
  wrong += MPI_Barrier(comm) != MPI_SUCCESS;
  out[0] = rank == 0 ? 77 : 0;
  wrong += MPI_Bcast(out, 1, MPI_INT, 0, comm) != MPI_SUCCESS || out[0] != 77;
  return wrong;
}

int main(int argc, char **argv) {
  static const int counts[] = {1, 14, 200, LONG};
  int rank, size, wrong = 0;
  MPI_Comm comm[2], others;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  comm[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
  MPI_Comm_dup(MPI_COMM_WORLD, &others);
  for (int k = 0; k < 2; k++) {
    MPI_Comm_set_errhandler(comm[k], MPI_ERRORS_RETURN);
    MPI_Barrier(comm[k]); /* from here on no call is MPI's, which a wrong scatter may block */
  }
  srandom((unsigned)atoi(argv[1])); /* the same on all ranks */
  for (int i = 0; i < atoi(argv[2]); i++) {
    int k = (int)(random() % 2), kind = (int)(random() % 9), count = counts[random() % 4];
    int other = (int)(random() % size), root = (int)(random() % size),
        more = 1 + (int)(random() % 9);
    MPI_Barrier(others); /* an error may end calls before it that others are past */
    if (size > 1)
      wrong_call(comm[k], kind, rank == other ? count + more : count, root);
    wrong += right_calls(comm[!k], rank, size, 1);
    wrong += right_calls(comm[k], rank, size, counts[random() % 4]);
    wrong += right_calls(comm[!k], rank, size, 1);
  }
  plain_number("wrong", wrong);
  MPI_Comm_free(&comm[1]);
  MPI_Comm_free(&others);
  MPI_Finalize();
  return 0;
}

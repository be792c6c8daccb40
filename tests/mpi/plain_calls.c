/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Calls on two windows, a different number of each: the one is the library's, and the other one,
 * whose memory lies on the stack, is MPI's. What is printed by plain_counts is for the report:
 * calls on the first and on the second window. */
#include <stdint.h>

#include "plain.h"

static int rank, size;

static void call_often(MPI_Win win, int second) {
  int64_t one = 1, got[2] = {0, 0};
  int to = (rank + 1) % size;
  MPI_Request request;
#define CALL(times, name, call)                                                                    \
  for (int i = 0; i < (times) + second; i++) {                                                     \
    call;                                                                                          \
    plain_called(name, second);                                                                    \
  }
  CALL(1, "fence", MPI_Win_fence(0, win))
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  plain_called("fence", second);
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
  plain_called("lock", second);
  CALL(2, "put", MPI_Put(&one, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win))
  MPI_Rput(&one, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win, &request);
  plain_called("put", second);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CALL(1, "flush", MPI_Win_flush(to, win))
  CALL(1, "flush", MPI_Win_flush_local(to, win))
  MPI_Win_unlock(to, win);
  MPI_Win_lock_all(0, win);
  plain_called("lock", second);
  CALL(4, "get", MPI_Get(&got[0], 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win))
  CALL(5, "accumulate", MPI_Accumulate(&one, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, MPI_SUM, win))
  CALL(6, "get_accumulate",
       MPI_Get_accumulate(&one, 1, MPI_INT64_T, &got[1], 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T,
                          MPI_SUM, win))
  CALL(7, "fetch_and_op", MPI_Fetch_and_op(&one, &got[1], MPI_INT64_T, to, 0, MPI_SUM, win))
  CALL(8, "compare_and_swap", MPI_Compare_and_swap(&one, &one, &got[1], MPI_INT64_T, to, 0, win))
  CALL(1, "flush", MPI_Win_flush_all(win))
  CALL(1, "flush", MPI_Win_flush_local_all(win))
  MPI_Win_unlock_all(win);
}

int main(int argc, char **argv) {
  MPI_Win served, own;
  int64_t *base, memory[2] = {0, 0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(sizeof memory, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &served);
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &own);
  call_often(served, 0);
  call_often(own, 1);
  MPI_Win_free(&own);
  MPI_Win_free(&served);
  plain_counts();
  MPI_Finalize();
  return 0;
}

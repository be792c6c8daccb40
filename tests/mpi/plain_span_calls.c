/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Calls on a window that spans nodes, of which there are two at least. What is printed by
 * plain_counts is for the report: calls that the library makes, and those that MPI makes. */
#include <stdint.h>

#include "plain.h"

enum { SERVED, PASSED };

static MPI_Win win;

/* They live until the last access has ended. */
static int64_t one = 1, got;

/* A process of the caller's node, and one of another node. */
static void find_targets(int *near, int *far) {
  int rank, size, me, n;
  MPI_Comm node;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &n);
  int here[size], ranks[n];
  MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, node);
  for (int i = 0; i < size; i++)
    here[i] = 0;
  for (int i = 0; i < n; i++)
    here[ranks[i]] = 1;
  *near = ranks[(me + 1) % n];
  *far = 0;
  while (here[*far])
    ++*far;
  MPI_Comm_free(&node);
}

#define CALL(times, name, what, call)                                                              \
  for (int i = 0; i < (times); i++) {                                                              \
    call;                                                                                          \
    plain_called(name, what);                                                                      \
  }

static void put_and_get(int near, int far) {
  MPI_Request request;
  CALL(3, "put", SERVED, MPI_Put(&one, 1, MPI_INT64_T, near, 0, 1, MPI_INT64_T, win))
  CALL(1, "put", SERVED, MPI_Rput(&one, 1, MPI_INT64_T, near, 0, 1, MPI_INT64_T, win, &request))
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CALL(1, "flush", SERVED, MPI_Win_flush(near, win))
  CALL(1, "flush", SERVED, MPI_Win_flush_all(win))
  CALL(2, "put", PASSED, MPI_Put(&one, 1, MPI_INT64_T, far, 0, 1, MPI_INT64_T, win))
  CALL(1, "flush", PASSED, MPI_Win_flush_local(far, win))
  CALL(1, "flush", SERVED, MPI_Win_flush_local(near, win))
  CALL(1, "flush", PASSED, MPI_Win_flush(far, win))
  CALL(2, "flush", SERVED, MPI_Win_flush(far, win))
  CALL(5, "get", SERVED, MPI_Get(&got, 1, MPI_INT64_T, near, 0, 1, MPI_INT64_T, win))
  CALL(2, "flush", PASSED, MPI_Win_flush_local_all(win)) /* which completes nothing at the target */
  CALL(1, "flush", PASSED, MPI_Win_flush_all(win))
  CALL(2, "flush", SERVED, MPI_Win_flush_local_all(win))
  CALL(3, "get", PASSED, MPI_Get(&got, 1, MPI_INT64_T, far, 0, 1, MPI_INT64_T, win))
}

static void accumulate(int to) {
  CALL(1, "accumulate", PASSED,
       MPI_Accumulate(&one, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, MPI_SUM, win))
  CALL(2, "get_accumulate", PASSED,
       MPI_Get_accumulate(&one, 1, MPI_INT64_T, &got, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T,
                          MPI_SUM, win))
  CALL(3, "fetch_and_op", PASSED, MPI_Fetch_and_op(&one, &got, MPI_INT64_T, to, 0, MPI_SUM, win))
  CALL(4, "compare_and_swap", PASSED,
       MPI_Compare_and_swap(&one, &one, &got, MPI_INT64_T, to, 0, win))
  CALL(1, "flush", PASSED, MPI_Win_flush(to, win))
}

int main(int argc, char **argv) {
  int64_t *base;
  int near, far;
  MPI_Init(&argc, &argv);
  find_targets(&near, &far);
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  CALL(2, "fence", PASSED, MPI_Win_fence(0, win))
  CALL(1, "fence", PASSED, MPI_Win_fence(MPI_MODE_NOSUCCEED, win))
  CALL(1, "lock", PASSED, MPI_Win_lock(MPI_LOCK_SHARED, near, 0, win))
  MPI_Win_unlock(near, win);
  CALL(1, "lock", PASSED, MPI_Win_lock_all(0, win))
  put_and_get(near, far);
  accumulate(near);
  accumulate(far);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  plain_counts();
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_completions.py starts, with RG_SURVIVE=1, on three ranks: rank 0 waits for any, some
 * or all of several receives when rank 2 dies. Each receive of a group with rank 2 fails, by its
 * number, and that of the group of ranks 0 and 1 is not concerned: rank 1 sends when the failed
 * ones have been reported. A receive from rank 2 that was freed does not hinder rg_finalize. In the
 * end rank 0 prints "RESULT". */
#include "ranks.h"

enum { FROM_1, FROM_2, ALSO_FROM_2, OPEN };

/* A step that the library does not see. */
static void tell(int rank) {
  MPI_Send(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD);
}

static void hear(int rank) {
  MPI_Recv(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void must_fail(int error, const char *number) {
  must(error == RG_ERR_PROC_FAILED && strstr(rg_error_detail(), number), number);
}

static void receive(rg_group g, rg_group pair, const char *how) {
  int got[OPEN], freed, done = 0;
  int64_t at[OPEN], count;
  rg_request r[OPEN], lost;
  must(!rg_irecv(pair, &got[FROM_1], 1, MPI_INT, 1, 1, &r[FROM_1]) &&
           !rg_irecv(g, &got[FROM_2], 1, MPI_INT, 2, 1, &r[FROM_2]) &&
           !rg_irecv(g, &got[ALSO_FROM_2], 1, MPI_INT, RG_ANY_SOURCE, 1, &r[ALSO_FROM_2]) &&
           !rg_irecv(g, &freed, 1, MPI_INT, 2, 2, &lost) && !rg_request_free(&lost),
       "rg_irecv");
  hear(1); /* it has left the barrier */
  tell(2);
  if (strcmp(how, "any") == 0) {
    must_fail(rg_wait_any(OPEN, r, at, NULL), "requests[1]");
    must_fail(rg_wait_any(OPEN, r, at, NULL), "requests[2]");
    tell(1);
    must(!rg_wait_any(OPEN, r, at, NULL) && at[0] == FROM_1, "rg_wait_any");
  } else if (strcmp(how, "some") == 0) {
    must_fail(rg_wait_some(OPEN, r, &count, at, NULL), "requests[1]");
    must_fail(rg_wait_some(OPEN, r, &count, at, NULL), "requests[2]");
    tell(1);
    must(!rg_wait_some(OPEN, r, &count, at, NULL) && count == 1 && at[0] == FROM_1, "some");
  } else {
    int error = RG_SUCCESS;
    must(!rg_test_all(OPEN, r, &done, NULL) && !done, "rg_test_all");
    tell(1);
    while (!error && !done)
      error = rg_test_all(OPEN, r, &done, NULL);
    must_fail(error, "requests[1]");
  }
  must(got[FROM_1] == 7 && !r[FROM_1] && !r[FROM_2] && !r[ALSO_FROM_2], "what rank 1 has sent");
}

int main(int argc, char **argv) {
  const int both[] = {0, 1}, seven = 7;
  rg_group g = enter_world(&argc, &argv), pair, next;
  must(!rg_barrier(g), "rg_barrier");
  if (my_rank == 2) {
    hear(0);
    raise(SIGKILL);
  }
  must(!rg_group_create(g, 2, both, 0, &pair), "rg_group_create");
  if (my_rank == 0) {
    receive(g, pair, argc > 1 ? argv[1] : "any");
  } else {
    tell(0);
    hear(0);
    must(!rg_send(pair, &seven, 1, MPI_INT, 0, 1), "rg_send");
  }
  rg_group_free(&pair);
  do /* until the death is known everywhere */
    next = survivors_of(g);
  while (size_of(next) == 3 && !rg_group_free(&next));
  must(size_of(next) == 2, "the survivors");
  if (my_rank == 0)
    puts("RESULT");
  rg_group_free(&next);
  leave_world(&g);
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_broken.py starts, with RG_SURVIVE=1, on three ranks of one node: rank 0 gives up a
 * long message to rank 1, which has received some of it, because rank 2 has died. Rank 1, which
 * has not looked since, gets the error of the death, not one of rank 0's giving up; in "given_up
 * collective" the message is part of a collective. In the end rank 0 prints "RESULT". */
#include "ranks.h"

#define WORDS ((size_t)1 << 20) /* 8 MiB: more than is on the way at a time */

static uint64_t from[WORDS], to[WORDS];

static int start(rg_group g, int collective, rg_request *open) {
  if (collective)
    return rg_ibcast(g, from, WORDS, MPI_UINT64_T, 0, open);
  return my_rank ? rg_irecv(g, to, WORDS, MPI_UINT64_T, 0, 1, open)
                 : rg_isend(g, from, WORDS, MPI_UINT64_T, 1, 1, open);
}

/* A step that the library does not see. */
static void tell(int rank) {
  MPI_Send(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD);
}

static void hear(int rank) {
  MPI_Recv(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_some(rg_group g, int collective) {
  rg_request open;
  must(!start(g, collective, &open), "start");
  tell(1);
  hear(1);
  tell(2);
  must(rg_wait(&open, NULL) == RG_ERR_PROC_FAILED, "the sender's rg_wait");
  tell(1);
}

static void receive_some(rg_group g, int collective) {
  rg_request open;
  int done;
  hear(0);
  must(!start(g, collective, &open), "start");
  must(!rg_test(&open, &done, NULL) && !done, "rg_test");
  tell(0);
  hear(0);
  must(rg_wait(&open, NULL) == RG_ERR_PROC_FAILED, "the receiver's rg_wait");
  must(strstr(rg_error_detail(), "has died") != NULL, "the receiver's text");
}

int main(int argc, char **argv) {
  int collective = argc > 1;
  rg_group g = enter_world(&argc, &argv), next;
  must(!rg_barrier(g), "rg_barrier");
  if (my_rank == 2) {
    hear(0);
    raise(SIGKILL);
  }
  (my_rank ? receive_some : send_some)(g, collective);
  next = survivors_of(g);
  must(size_of(next) == 2, "the survivors");
  if (my_rank == 0)
    puts("RESULT");
  rg_group_free(&next);
  leave_world(&g);
  return 0;
}

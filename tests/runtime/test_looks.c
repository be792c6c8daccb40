/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2
 * env: RG_OVERSUBSCRIBED=no
 * Calls of MPI that poll in vain and return are no wait: where each process has a processor they
 * never yield and never sleep, however many there are. */
#include <mpi.h>
#include <regroup.h>

#include "tests/check/check.h"

enum { TIMES = 100000 };

/* Of calls that follow one another for longer than it takes until a wait sleeps. */
static int64_t pauses(void (*call)(void)) {
  int64_t before[2], after[2];
  double begin = MPI_Wtime();
  RGT_OK(rg_polite_counts(NULL, &before[0], &before[1]));
  for (int i = 0; i < TIMES || MPI_Wtime() - begin < 0.02; i++)
    call();
  RGT_OK(rg_polite_counts(NULL, &after[0], &after[1]));
  return after[0] - before[0] + after[1] - before[1];
}

static MPI_Win win;
static MPI_Request request;

static void flush(void) {
  MPI_Win_flush(rgt_rank, win);
}

static void flush_local_all(void) {
  MPI_Win_flush_local_all(win);
}

static void iprobe(void) {
  int found;
  MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

static void look_for_message(void) {
  int done;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void look_for_all(void) {
  int done;
  MPI_Status status[1];
  MPI_Testall(1, &request, &done, status);
}

static void look_for_any(void) {
  int index, done;
  MPI_Testany(1, &request, &index, &done, MPI_STATUS_IGNORE);
}

static void look_for_some(void) {
  int n, at[1];
  MPI_Status status[1];
  MPI_Testsome(1, &request, &n, at, status);
}

static void test_flushes(void) {
  double *base;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  RGT_INT(pauses(flush), 0);
  RGT_INT(pauses(flush_local_all), 0);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void test_looks(void) {
  int got = 0, sent = 5;
  RGT_INT(pauses(iprobe), 0);
  MPI_Irecv(&got, 1, MPI_INT, rgt_rank, 8, MPI_COMM_WORLD, &request);
  RGT_INT(pauses(look_for_message), 0);
  RGT_INT(pauses(look_for_all), 0);
  RGT_INT(pauses(look_for_any), 0);
  RGT_INT(pauses(look_for_some), 0);
  MPI_Send(&sent, 1, MPI_INT, rgt_rank, 8, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  RGT_INT(got, 5);
}

/* No member has to come for these: MPI polls a few times, and nothing says that they have ended. */
static MPI_Comm others;

static void start_nothing(MPI_Request *r) {
  static const int none[2] = {0, 0};
  static char in[1], out[1];
  MPI_Ialltoallv(in, none, none, MPI_BYTE, out, none, none, MPI_BYTE, others, r);
}

static void wait_for_nothing(void) {
  start_nothing(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wait_for_all(void) {
  MPI_Request two[2];
  MPI_Status status[2];
  start_nothing(&two[0]);
  start_nothing(&two[1]);
  MPI_Waitall(2, two, status);
}

static void wait_for_any(void) {
  int index;
  start_nothing(&request);
  MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
}

static void wait_for_some(void) {
  int n, at[1];
  MPI_Status status[1];
  start_nothing(&request);
  MPI_Waitsome(1, &request, &n, at, status);
}

static void test_waits(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &others);
  RGT_INT(pauses(wait_for_nothing), 0);
  RGT_INT(pauses(wait_for_all), 0);
  RGT_INT(pauses(wait_for_any), 0);
  RGT_INT(pauses(wait_for_some), 0);
  MPI_Comm_free(&others);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {
      {"flushes", test_flushes}, {"looks", test_looks}, {"waits", test_waits}, {NULL, NULL}};
  return rgt_main(argc, argv, "looks", tests);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The forms of the windows' functions with large counts, which MPI has since its version 4: in a
 * ring each member accesses the next one's memory, in windows made in each of three ways. With an
 * older MPI these are the usual forms. */
#include <stdint.h>
#include <string.h>

#include "plain.h"

enum { N = 16 };

#if MPI_VERSION >= 4
#define LARGE(name) name##_c
typedef MPI_Count count;
typedef MPI_Aint unit_of_window;
#else
#define LARGE(name) name
typedef int count;
typedef int unit_of_window;
#endif

static int rank, size, wrong;

static void check(int good) {
  wrong += !good;
}

/* The accesses of all processes are complete, and each process sees them. */
static void meet(MPI_Win win) {
  MPI_Win_flush_all(win);
  plain_called("barrier", 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
}

static void try_accesses(MPI_Win win, const int64_t *base) {
  const count one = 1, three = 3;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const int64_t sent[3] = {rank + 1, rank + 2, rank + 3};
  int64_t got[3] = {0}, old[3] = {0};
  LARGE(MPI_Put)(sent, three, MPI_INT64_T, next, 0, three, MPI_INT64_T, win);
  MPI_Win_flush(next, win);
  LARGE(MPI_Get)(got, three, MPI_INT64_T, next, 0, three, MPI_INT64_T, win);
  MPI_Win_flush(next, win);
  check(memcmp(got, sent, sizeof sent) == 0);
  LARGE(MPI_Accumulate)(sent, three, MPI_INT64_T, next, 4, three, MPI_INT64_T, MPI_SUM, win);
  LARGE(MPI_Accumulate)(sent, one, MPI_INT64_T, next, 4, one, MPI_INT64_T, MPI_SUM, win);
  LARGE(MPI_Get_accumulate)
  (sent, three, MPI_INT64_T, old, three, MPI_INT64_T, next, 4, three, MPI_INT64_T, MPI_REPLACE,
   win);
  MPI_Win_flush(next, win);
  check(old[0] == 2 * sent[0] && old[1] == sent[1] && old[2] == sent[2]);
  meet(win);
  for (int i = 0; i < 3; i++)
    check(base[i] == before + 1 + i && base[4 + i] == before + 1 + i);
}

static void try_requests(MPI_Win win, const int64_t *base) {
  const count two = 2;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const int64_t sent[2] = {rank + 10, rank + 20};
  int64_t got[2] = {0}, old[2] = {7, 7};
  MPI_Request request[3];
  LARGE(MPI_Rput)(sent, two, MPI_INT64_T, next, 8, two, MPI_INT64_T, win, &request[0]);
  LARGE(MPI_Raccumulate)
  (sent, two, MPI_INT64_T, next, 10, two, MPI_INT64_T, MPI_SUM, win, &request[1]);
  LARGE(MPI_Rget_accumulate)
  (sent, two, MPI_INT64_T, old, two, MPI_INT64_T, next, 12, two, MPI_INT64_T, MPI_SUM, win,
   &request[2]);
  for (int i = 0; i < 3; i++)
    MPI_Wait(&request[i], MPI_STATUS_IGNORE);
  MPI_Win_flush(next, win);
  LARGE(MPI_Rget)(got, two, MPI_INT64_T, next, 8, two, MPI_INT64_T, win, &request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  check(got[0] == sent[0] && got[1] == sent[1] && old[0] == 0 && old[1] == 0);
  meet(win);
  for (int i = 8; i < 14; i++)
    check(base[i] == before + (i % 2 ? 20 : 10));
}

/* The members' memory lies one behind the other. */
static void try_query(MPI_Win win, const int64_t *base) {
  for (int i = 0; i < size; i++) {
    MPI_Aint bytes = 0;
    unit_of_window unit = 0;
    int64_t *found = NULL;
    LARGE(MPI_Win_shared_query)(win, i, &bytes, &unit, &found);
    check(bytes == N * sizeof *base && unit == sizeof *base && found == base + (i - rank) * N);
  }
}

/* The window is freed. */
static void try_window(const char *name, MPI_Win win, int64_t *base, int shared) {
  plain_called("rma", 0);
  MPI_Win_lock_all(0, win);
  memset(base, 0, N * sizeof *base);
  meet(win);
  try_accesses(win, base);
  try_requests(win, base);
  if (shared)
    try_query(win, base);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  plain_number(name, wrong);
  wrong = 0;
}

int main(int argc, char **argv) {
  const MPI_Aint bytes = N * sizeof(int64_t);
  const unit_of_window unit = sizeof(int64_t);
  int64_t *base, *own;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &own);
  LARGE(MPI_Win_create)(own, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  try_window("create", win, own, 0);
  MPI_Free_mem(own);
  LARGE(MPI_Win_allocate)(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  try_window("allocate", win, base, 0);
  LARGE(MPI_Win_allocate_shared)(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  try_window("shared", win, base, 1);
  plain_counts();
  MPI_Finalize();
  return 0;
}

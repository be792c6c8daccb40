/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A stencil on a ring of points, in whole numbers. Now and then each member copies its block to
 * the next one. After deaths the survivors share the points anew, from the last copies that all
 * have made, with those that are spawned for the dead; where a block is lost with its copy they
 * begin again. The result is compared with that
 * of one process. See mortal.h. */
#include <stdlib.h>
#include <string.h>

#include "mortal.h"

enum { POINTS = 20000, EVERY = 5, VERSIONS = 2 };

/* Of one step: the own block, and that of the member before. */
typedef struct {
  int step; /* -1: none */
  int first[2], n[2];
  uint64_t *block[2];
} copy;

static uint64_t now[POINTS + 2], next[POINTS + 2]; /* with a point of each neighbour */
static copy copies[VERSIONS];
static int step_now, latest; /* the last copies that all are known to have made */

static uint64_t initial(int at) {
  return mortal_draw((uint64_t)at, 5);
}

static uint64_t updated(uint64_t left, uint64_t middle, uint64_t right) {
  return left + 3 * middle + right * 5;
}

static void share(MPI_Comm comm, int rank, int *first, int *n) {
  int size;
  MPI_Comm_size(comm, &size);
  rank = (rank + size) % size;
  *first = (int)((long long)POINTS * rank / size);
  *n = (int)((long long)POINTS * (rank + 1) / size) - *first;
}

static void find_neighbours(MPI_Comm comm, int *left, int *right) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  *left = (me + size - 1) % size;
  *right = (me + 1) % size;
}

/* --- copies -------------------------------------------------------------------------------- */

/* In place of the older one. */
static int make_copy(MPI_Comm comm) {
  copy *to = &copies[step_now / EVERY % VERSIONS];
  int left, right, me;
  MPI_Comm_rank(comm, &me);
  find_neighbours(comm, &left, &right);
  to->step = -1;
  share(comm, me, &to->first[0], &to->n[0]);
  share(comm, me - 1, &to->first[1], &to->n[1]);
  memcpy(to->block[0], now + 1, sizeof *now * (size_t)to->n[0]);
  MORTAL_TRY(MPI_Sendrecv(to->block[0], to->n[0], MPI_UINT64_T, right, 2, to->block[1], to->n[1],
                          MPI_UINT64_T, left, 2, comm, MPI_STATUS_IGNORE));
  to->step = step_now;
  MORTAL_TRY(MPI_Barrier(comm)); /* where it ends well, all have come to it */
  latest = step_now;
  return MPI_SUCCESS;
}

static void put_copies(int step, uint64_t *all, int *has) {
  for (int v = 0; v < VERSIONS; v++)
    for (int b = 0; copies[v].step == step && b < 2; b++)
      for (int i = 0; i < copies[v].n[b]; i++) {
        all[copies[v].first[b] + i] = copies[v].block[b][i];
        has[copies[v].first[b] + i] = 1;
      }
}

/* All points of a step, or of the first where some are lost. */
static int collect(MPI_Comm comm, int step, uint64_t *all, int *has) {
  int lost = 0;
  if (step >= 0)
    put_copies(step, all, has);
  MORTAL_TRY(MPI_Allreduce(MPI_IN_PLACE, all, POINTS, MPI_UINT64_T, MPI_MAX, comm));
  MORTAL_TRY(MPI_Allreduce(MPI_IN_PLACE, has, POINTS, MPI_INT, MPI_MAX, comm));
  for (int i = 0; i < POINTS; i++)
    lost += !has[i];
  step_now = lost ? 0 : step;
  for (int i = 0; lost && i < POINTS; i++)
    all[i] = initial(i);
  return MPI_SUCCESS;
}

/* Some may know of later copies than others, which have made them, too. */
static int restore(MPI_Comm comm, void *data) {
  int me, first, n, step = latest;
  (void)data;
  MORTAL_TRY(MPI_Allreduce(&latest, &step, 1, MPI_INT, MPI_MAX, comm));
  uint64_t *all = calloc(POINTS, sizeof *all);
  int *has = calloc(POINTS, sizeof *has);
  int code = collect(comm, step, all, has);
  MPI_Comm_rank(comm, &me);
  share(comm, me, &first, &n);
  if (!code)
    memcpy(now + 1, all + first, sizeof *now * (size_t)n);
  free(all);
  free(has);
  if (code)
    return code;
  latest = step_now; /* copies of a later step are no more to be used */
  for (int v = 0; v < VERSIONS; v++)
    if (copies[v].step > step_now || step_now == 0)
      copies[v].step = -1;
  return make_copy(comm);
}

/* --- steps ----------------------------------------------------------------------------------- */

/* Each sends its outer points to the neighbours. */
static int exchange_points(MPI_Comm comm, int n) {
  MPI_Request open[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status states[4]; /* gcc warns of MPI_STATUSES_IGNORE */
  int left, right;
  find_neighbours(comm, &left, &right);
  MPI_Irecv(&now[0], 1, MPI_UINT64_T, left, 0, comm, &open[0]);
  MPI_Irecv(&now[n + 1], 1, MPI_UINT64_T, right, 1, comm, &open[1]);
  mortal_point();
  MPI_Isend(&now[n], 1, MPI_UINT64_T, right, 0, comm, &open[2]);
  MPI_Isend(&now[1], 1, MPI_UINT64_T, left, 1, comm, &open[3]);
  mortal_point();
  int code = mortal_code(MPI_Waitall(4, open, states), "MPI_Waitall");
  if (code)
    MPIX_Comm_revoke(comm);
  for (int i = 0; code && i < 4; i++)
    mortal_code(MPI_Wait(&open[i], MPI_STATUS_IGNORE), "MPI_Wait");
  return code;
}

static int step(MPI_Comm comm) {
  int me, first, n;
  MPI_Comm_rank(comm, &me);
  share(comm, me, &first, &n);
  if (step_now % EVERY == 0 && step_now != latest)
    MORTAL_TRY(make_copy(comm));
  MORTAL_TRY(exchange_points(comm, n));
  for (int i = 1; i <= n; i++)
    next[i] = updated(now[i - 1], now[i], now[i + 1]);
  memcpy(now + 1, next + 1, sizeof *now * (size_t)n);
  step_now++;
  return MPI_SUCCESS;
}

/* --- the result ------------------------------------------------------------------------------ */

/* By one process, in two lines of its own. */
static uint64_t *expect(void) {
  uint64_t *is = malloc(POINTS * sizeof *is), *was = malloc(POINTS * sizeof *was);
  for (int i = 0; i < POINTS; i++)
    is[i] = initial(i);
  for (int s = 0; s < mortal_rounds; s++) {
    memcpy(was, is, POINTS * sizeof *is);
    for (int i = 0; i < POINTS; i++)
      is[i] = updated(was[(i + POINTS - 1) % POINTS], was[i], was[(i + 1) % POINTS]);
  }
  free(was);
  return is;
}

static uint64_t check(MPI_Comm comm) {
  int me, first, n;
  uint64_t checksum = 0, *right = expect();
  MPI_Comm_rank(comm, &me);
  share(comm, me, &first, &n);
  for (int i = 0; i < n; i++)
    if (now[i + 1] != right[first + i]) {
      mortal_fail("a point", first + i);
      break;
    }
  for (int i = 0; i < POINTS; i++)
    checksum = checksum * 31 + right[i];
  free(right);
  return checksum;
}

int main(int argc, char **argv) {
  int failed, me, first, n;
  mortal_begin(argc, argv, MPI_THREAD_SINGLE);
  MPI_Comm comm = mortal_comm;
  for (int v = 0; v < VERSIONS; v++) {
    copies[v].step = -1;
    for (int b = 0; b < 2; b++)
      copies[v].block[b] = calloc(POINTS, sizeof(uint64_t));
  }
  MPI_Comm_rank(comm, &me);
  share(comm, me, &first, &n);
  for (int i = 0; i < n; i++)
    now[i + 1] = initial(first + i);
  latest = -1;
  do
    for (failed = mortal_is_new; step_now < mortal_rounds && !failed;)
      failed = step(comm);
  while (!mortal_settle_with(&comm, failed, restore, NULL));
  return mortal_end(check(comm));
}

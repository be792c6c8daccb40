/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Threads: each has a communicator of its own, and recovers on its own, at the same time as the
 * others: see mortal.h. */
#include <pthread.h>
#include <stdlib.h>

#include "mortal.h"

enum { THREADS = 3, MOST = 20000 };

typedef struct {
  pthread_t thread;
  int number, round;
  MPI_Comm comm;
  int *in, *out;
} worker;

/* With both neighbours. */
static int exchange(worker *w, int me, int n, int count) {
  MPI_Request open[4];
  MPI_Status states[4]; /* gcc warns of MPI_STATUSES_IGNORE */
  int left = (me + n - 1) % n, right = (me + 1) % n, half = MOST / 2, code;
  int from[2] = {mortal_world_rank(w->comm, left), mortal_world_rank(w->comm, right)};
  for (int i = 0; i < count; i++)
    w->out[i] = mortal_rank * 17 + w->number + w->round + i;
  mortal_point();
  MPI_Irecv(w->in, count, MPI_INT, left, 0, w->comm, &open[0]);
  MPI_Irecv(w->in + half, count, MPI_INT, right, 1, w->comm, &open[1]);
  MPI_Isend(w->out, count, MPI_INT, right, 0, w->comm, &open[2]);
  MPI_Isend(w->out, count, MPI_INT, left, 1, w->comm, &open[3]);
  mortal_point();
  code = mortal_code(MPI_Waitall(4, open, states), "MPI_Waitall");
  if (code)
    MPIX_Comm_revoke(w->comm);
  for (int i = 0; code && i < 4; i++)
    mortal_code(MPI_Wait(&open[i], MPI_STATUS_IGNORE), "MPI_Wait");
  for (int i = 0; !code && i < count; i++)
    for (int k = 0; k < 2; k++)
      if (w->in[k * half + i] != from[k] * 17 + w->number + w->round + i)
        mortal_fail("a neighbour's message", i);
  return code;
}

static int add_up(worker *w, int n) {
  long long mine = mortal_rank + w->round, sum, right = 0;
  for (int i = 0; i < n; i++)
    right += mortal_world_rank(w->comm, i) + w->round;
  MORTAL_TRY(MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, w->comm));
  if (sum != right)
    mortal_fail("a sum", sum);
  return MPI_SUCCESS;
}

static int duplicate(worker *w, int n) {
  MPI_Comm mine = w->comm, made;
  MORTAL_TRY(MPI_Comm_dup(mine, &made));
  w->comm = made;
  int code = add_up(w, n);
  w->comm = mine;
  MPI_Comm_free(&made);
  return code;
}

static int step(worker *w) {
  int me, n;
  uint64_t drawn = mortal_draw((uint64_t)w->round, (uint64_t)w->number + 20);
  MPI_Comm_rank(w->comm, &me);
  MPI_Comm_size(w->comm, &n);
  switch (drawn % 8) {
  case 0:
    return duplicate(w, n);
  case 1:
  case 2:
  case 3:
    return add_up(w, n);
  default:
    return exchange(w, me, n, 1 + (int)((drawn >> 8) % (MOST / 2)));
  }
}

static void *work(void *data) {
  worker *w = data;
  int failed;
  do {
    for (failed = 0; w->round < mortal_rounds && !failed; w->round += !failed)
      failed = step(w);
  } while (!mortal_settle(&w->comm, failed, &w->round));
  return NULL;
}

/* All have communicators before any thread begins; else none has any. */
static int make_comms(MPI_Comm comm, void *data) {
  worker *all = data;
  for (int i = 0; i < THREADS; i++) {
    if (all[i].comm != MPI_COMM_NULL)
      MPI_Comm_free(&all[i].comm);
    MORTAL_TRY(MPI_Comm_dup(comm, &all[i].comm));
  }
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  worker all[THREADS] = {{.number = 0}};
  MPI_Comm comm = MPI_COMM_WORLD;
  uint64_t checksum = 0;
  mortal_begin(argc, argv, MPI_THREAD_MULTIPLE);
  for (int i = 0; i < THREADS; i++)
    all[i] = (worker){.number = i,
                      .comm = MPI_COMM_NULL,
                      .in = malloc(MOST * sizeof(int)),
                      .out = malloc(MOST * sizeof(int))};
  mortal_settle_with(&comm, make_comms(comm, all), make_comms, all);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&all[i].thread, NULL, work, &all[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(all[i].thread, NULL);
  for (int i = 0; i < mortal_rounds; i++)
    checksum += mortal_draw((uint64_t)i, 9);
  return mortal_end(checksum);
}

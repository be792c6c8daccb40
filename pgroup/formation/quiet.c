/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/quiet.h"

#include <pthread.h>

#define COMMS 64
static struct {
  pthread_mutex_t lock;
  struct {
    MPI_Comm comm;
    MPI_Errhandler handler;
    int users;
  } entry[COMMS];
} quiet = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The communicator's entry, or a free one, or -1 when all are taken: then its
 * handler stays as it is. */
static int find(MPI_Comm comm) {
  int at = -1;
  for (int i = 0; i < COMMS; i++) {
    if (quiet.entry[i].users && quiet.entry[i].comm == comm)
      return i;
    if (!quiet.entry[i].users && at < 0)
      at = i;
  }
  return at;
}

int rgi_quiet_begin(MPI_Comm comm) {
  pthread_mutex_lock(&quiet.lock);
  int at = find(comm);
  if (at >= 0 && quiet.entry[at].users++ == 0) {
    quiet.entry[at].comm = comm;
    MPI_Comm_get_errhandler(comm, &quiet.entry[at].handler);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  pthread_mutex_unlock(&quiet.lock);
  return at;
}

void rgi_quiet_end(int at, MPI_Comm newcomm) {
  if (at < 0)
    return;
  pthread_mutex_lock(&quiet.lock);
  if (newcomm != MPI_COMM_NULL)
    MPI_Comm_set_errhandler(newcomm, quiet.entry[at].handler);
  if (--quiet.entry[at].users == 0) {
    MPI_Comm_set_errhandler(quiet.entry[at].comm, quiet.entry[at].handler);
    MPI_Errhandler_free(&quiet.entry[at].handler);
  }
  pthread_mutex_unlock(&quiet.lock);
}

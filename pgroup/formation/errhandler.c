/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A table of the communicators that are between begin and end, with their own error handler and the
 * number of threads that use them. */
#include "formation/errhandler.h"

#include <pthread.h>

#define COMMS 64
static struct {
  pthread_mutex_t lock;
  struct {
    MPI_Comm comm;
    MPI_Errhandler handler;
    int users;
  } entry[COMMS];
} handlers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The communicator's entry, or a free one, or -1 when all are in use: its handler then stays as
 * it is. */
static int find_entry(MPI_Comm comm) {
  int at = -1;
  for (int i = 0; i < COMMS; i++) {
    if (handlers.entry[i].users && handlers.entry[i].comm == comm)
      return i;
    if (!handlers.entry[i].users && at < 0)
      at = i;
  }
  return at;
}

int rgi_errhandler_begin(MPI_Comm comm) {
  pthread_mutex_lock(&handlers.lock);
  int at = find_entry(comm);
  if (at >= 0 && handlers.entry[at].users++ == 0) {
    handlers.entry[at].comm = comm;
    MPI_Comm_get_errhandler(comm, &handlers.entry[at].handler);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  pthread_mutex_unlock(&handlers.lock);
  return at;
}

void rgi_errhandler_end(int at, MPI_Comm newcomm) {
  if (at < 0)
    return;
  pthread_mutex_lock(&handlers.lock);
  if (newcomm != MPI_COMM_NULL)
    MPI_Comm_set_errhandler(newcomm, handlers.entry[at].handler);
  if (--handlers.entry[at].users == 0) {
    MPI_Comm_set_errhandler(handlers.entry[at].comm, handlers.entry[at].handler);
    MPI_Errhandler_free(&handlers.entry[at].handler);
  }
  pthread_mutex_unlock(&handlers.lock);
}

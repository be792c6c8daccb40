/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The native method: MPI_Comm_create_group. */
#include <pthread.h>

#include "formation/comm.h"
#include "runtime/error.h"

/* MPI reports an error on the parent, which is the application's and may have
 * any error handler. While a creation runs its errors are returned; threads that
 * create on the same parent share one change of the handler. */
#define PARENTS 64
static struct {
  pthread_mutex_t lock;
  struct {
    MPI_Comm comm;
    MPI_Errhandler handler;
    int users;
  } parent[PARENTS];
} quiet = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the entry, or -1 when all are taken: then the handler stays. */
static int quiet_begin(MPI_Comm comm) {
  int at = -1;
  pthread_mutex_lock(&quiet.lock);
  for (int i = 0; i < PARENTS; i++) {
    if (quiet.parent[i].users && quiet.parent[i].comm == comm) {
      at = i;
      break;
    }
    if (!quiet.parent[i].users && at < 0)
      at = i;
  }
  if (at >= 0 && quiet.parent[at].users++ == 0) {
    quiet.parent[at].comm = comm;
    MPI_Comm_get_errhandler(comm, &quiet.parent[at].handler);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  pthread_mutex_unlock(&quiet.lock);
  return at;
}

/* newcomm, unless it is null, gets the parent's own handler. */
static void quiet_end(int at, MPI_Comm newcomm) {
  if (at < 0)
    return;
  pthread_mutex_lock(&quiet.lock);
  if (newcomm != MPI_COMM_NULL)
    MPI_Comm_set_errhandler(newcomm, quiet.parent[at].handler);
  if (--quiet.parent[at].users == 0) {
    MPI_Comm_set_errhandler(quiet.parent[at].comm, quiet.parent[at].handler);
    MPI_Errhandler_free(&quiet.parent[at].handler);
  }
  pthread_mutex_unlock(&quiet.lock);
}

int rgi_create_native(const rgi_creation *c, MPI_Comm *newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  int at = quiet_begin(c->comm);
  int error = rgi_mpi_error(MPI_Comm_create_group(c->comm, c->group, c->tag, &made),
                            "MPI_Comm_create_group");
  quiet_end(at, error ? MPI_COMM_NULL : made);
  if (error)
    return error;
  *newcomm = made;
  return RG_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/self_comm.h"

#include <pthread.h>

static struct {
  pthread_mutex_t lock;
  int made;
  MPI_Comm comm;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Split, not duplicated: that would call the application's functions for attributes. */
MPI_Comm rgi_self_comm(void) {
  pthread_mutex_lock(&own.lock);
  if (!own.made) {
    own.made = PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own.comm) == MPI_SUCCESS;
    if (own.made)
      PMPI_Comm_set_errhandler(own.comm, MPI_ERRORS_RETURN);
  }
  MPI_Comm comm = own.made ? own.comm : MPI_COMM_NULL;
  pthread_mutex_unlock(&own.lock);
  return comm;
}

void rgi_self_comm_free(void) {
  if (own.made)
    PMPI_Comm_free(&own.comm);
  own.made = 0;
}

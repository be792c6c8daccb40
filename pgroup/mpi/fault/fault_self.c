/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI does not list attributes: the keys are noted as the program sets them, in C. (MPICH's
 * function for Fortran is also that behind C's, and would see the library's own.) */
#include "mpi/fault/fault_self.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/fault/fault_comm.h"
#include "mpi/intercept.h"

static struct {
  pthread_mutex_t lock;
  int *key, n, room;
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where there is no memory the attribute is not deleted. */
static void note_key(int key) {
  pthread_mutex_lock(&noted.lock);
  if (noted.n == noted.room) {
    int room = 2 * noted.room + 8, *more = realloc(noted.key, (size_t)room * sizeof *more);
    if (more) {
      noted.key = more;
      noted.room = room;
    }
  }
  if (noted.n < noted.room)
    noted.key[noted.n++] = key;
  pthread_mutex_unlock(&noted.lock);
}

static int end_set(int code, MPI_Comm comm, int key) {
  if (comm == MPI_COMM_SELF && rgi_fault_comm_on && code == MPI_SUCCESS)
    note_key(key);
  return code;
}

RG_API int MPI_Comm_set_attr(MPI_Comm comm, int key, void *value) {
  return end_set(RGI_INTERCEPT_NEXT(MPI_Comm_set_attr)(comm, key, value), comm, key);
}

RG_API int MPI_Attr_put(MPI_Comm comm, int key, void *value) {
  return end_set(RGI_INTERCEPT_NEXT(MPI_Attr_put)(comm, key, value), comm, key);
}

/* A function of the program's may set others. One that is not there any more is no error. */
void rgi_fault_self_delete(void) {
  while (noted.n > 0)
    PMPI_Comm_delete_attr(MPI_COMM_SELF, noted.key[--noted.n]);
}

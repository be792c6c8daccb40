/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The groups of the application's communicators, cached on them as an attribute. Unlike
 * rg_comm_group, this is also right where threads first use communicators of the same
 * processes in different orders: rank 0 chooses a number, and broadcasts it, that tells their
 * contexts apart. */
#include <pthread.h>
#include <stdatomic.h>

#include "mpi/intercept.h"

static struct {
  pthread_mutex_t lock;
  int key;
  atomic_uint next;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID};

static char no_group; /* the attribute of a communicator whose calls are passed on */

static int delete_group(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)extra;
  if (value != &no_group) {
    rg_group g = value;
    rg_group_free(&g);
  }
  return MPI_SUCCESS;
}

static int key_ready(void) {
  pthread_mutex_lock(&kept.lock);
  if (kept.key == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_group, &kept.key, NULL);
  pthread_mutex_unlock(&kept.lock);
  return kept.key != MPI_KEYVAL_INVALID;
}

static int choose_number(MPI_Comm comm, int *number) {
  *number = (int)(atomic_fetch_add(&kept.next, 1) & ((1u << 28) - 1)); /* the largest tag */
  return PMPI_Bcast(number, 1, MPI_INT, 0, comm);
}

/* NULL: an inter-communicator, or a process of another MPI_COMM_WORLD. */
static rg_group make_group(MPI_Comm comm) {
  rg_group g = NULL;
  MPI_Group mpi;
  int inter = 1, number;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
      choose_number(comm, &number) != MPI_SUCCESS || PMPI_Comm_group(comm, &mpi) != MPI_SUCCESS)
    return NULL;
  if (rg_group_from_mpi_group(mpi, number, &g))
    g = NULL;
  PMPI_Group_free(&mpi);
  return g;
}

rg_group rgi_intercept_comm_group(MPI_Comm comm) {
  void *found = NULL;
  int flag = 0;
  if (comm == MPI_COMM_NULL || !key_ready() ||
      PMPI_Comm_get_attr(comm, kept.key, &found, &flag) != MPI_SUCCESS)
    return NULL;
  if (!flag) {
    found = make_group(comm);
    PMPI_Comm_set_attr(comm, kept.key, found ? found : &no_group);
  }
  return found == &no_group ? NULL : found;
}

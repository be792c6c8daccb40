/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Groups of plain communicators: each is cached on its communicator as an attribute and freed
 * with it. */
#include <pthread.h>
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/error.h"
#include "formation/group.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

static struct {
  pthread_mutex_t lock;
  int key; /* MPI_KEYVAL_INVALID: not made yet */
} attribute = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID};

/* The communicator is freed, and its group with it. */
static int delete_group(MPI_Comm comm, int key, void *value, void *extra) {
  rg_group g = value;
  (void)comm, (void)key, (void)extra;
  rg_group_free(&g);
  return MPI_SUCCESS;
}

/* The attribute is not copied: a duplicate has a context of its own, and so gets its own group. */
static int make_key(void) {
  int error = RG_SUCCESS;
  pthread_mutex_lock(&attribute.lock);
  if (attribute.key == MPI_KEYVAL_INVALID)
    error = rgi_mpi_error(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_group, &attribute.key, NULL),
        "MPI_Comm_create_keyval");
  pthread_mutex_unlock(&attribute.lock);
  return error;
}

int rg_comm_group(MPI_Comm comm, rg_group *g) {
  rg_group found = NULL;
  int flag = 0;
  RGI_REQUIRE(g);
  RGI_TRY(rgi_runtime_check(__func__));
  if (comm == MPI_COMM_NULL)
    return rgi_error(RG_ERR_COMM, "%s: the communicator is MPI_COMM_NULL", __func__);
  RGI_TRY(make_key());
  RGI_TRY_MPI(MPI_Comm_get_attr(comm, attribute.key, &found, &flag));
  if (flag && found->epoch == rgi_runtime.epoch) {
    *g = found;
    return RG_SUCCESS;
  }
  RGI_TRY(rg_group_from_comm(comm, &found));
  int error = rgi_mpi_error(MPI_Comm_set_attr(comm, attribute.key, found), "MPI_Comm_set_attr");
  if (error) {
    rg_group_free(&found);
    return error;
  }
  *g = found;
  return RG_SUCCESS;
}

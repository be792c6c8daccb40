/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How many communicators the library has alive in this process, and whether MPI can make more.
 * An attribute on each communicator counts it down when the application frees it. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "formation/comm.h"
#include "formation/errhandler.h"
#include "progress/mpi_error.h"

/* What a creation takes while it runs: the caller's own communicator, an
 * inter-communicator (which holds a local one), the merged one. */
#define TRANSIENT 4

static struct {
  pthread_mutex_t lock;
  int keyval;
  MPI_Comm self; /* a duplicate of MPI_COMM_SELF whose errors are returned */
  atomic_int alive;
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID, .self = MPI_COMM_NULL};

/* MPI calls this when a communicator of the library is freed. */
static int on_free(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  atomic_fetch_sub(&comms.alive, 1);
  return MPI_SUCCESS;
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF: the moment to free what is kept
 * here. */
static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  MPI_Comm_free(&comms.self);
  MPI_Comm_free_keyval(&comms.keyval);
  return MPI_SUCCESS;
}

static int prepare_locked(void) {
  int at_finalize;
  if (comms.self != MPI_COMM_NULL)
    return RG_SUCCESS;
  int entry = rgi_errhandler_begin(MPI_COMM_SELF);
  int error = rgi_mpi_error(MPI_Comm_dup(MPI_COMM_SELF, &comms.self), "MPI_Comm_dup");
  rgi_errhandler_end(entry, MPI_COMM_NULL);
  if (error)
    return error;
  MPI_Comm_set_errhandler(comms.self, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &comms.keyval, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &at_finalize, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, at_finalize, &comms);
  MPI_Comm_free_keyval(&at_finalize); /* MPI keeps it until the attribute is deleted */
  return RG_SUCCESS;
}

static int prepare_comms(void) {
  pthread_mutex_lock(&comms.lock);
  int error = prepare_locked();
  pthread_mutex_unlock(&comms.lock);
  return error;
}

int rgi_comm_self(MPI_Comm *self) {
  RGI_TRY(prepare_comms());
  RGI_TRY_MPI(MPI_Comm_dup(comms.self, self));
  return RG_SUCCESS;
}

int rgi_comm_check_room(const char *call) {
  MPI_Comm trial[TRANSIENT];
  int made = 0, error = RG_SUCCESS;
  while (made < TRANSIENT && !error) {
    error = rgi_comm_self(&trial[made]);
    made += !error;
  }
  while (made > 0)
    MPI_Comm_free(&trial[--made]);
  if (error == RG_ERR_LIMIT)
    return rgi_error(RG_ERR_LIMIT,
                     "%s: too many communicators are alive in this process (%d made here): free "
                     "some first",
                     call, (int)comms.alive);
  return error;
}

int rgi_comm_track(MPI_Comm newcomm) {
  RGI_TRY(prepare_comms());
  RGI_TRY_MPI(MPI_Comm_set_attr(newcomm, comms.keyval, &comms));
  atomic_fetch_add(&comms.alive, 1);
  return RG_SUCCESS;
}

int rg_comm_count(int *count) {
  RGI_REQUIRE(count);
  *count = comms.alive;
  return RG_SUCCESS;
}

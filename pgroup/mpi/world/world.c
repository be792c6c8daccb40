/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * libregroup-world.so: in a job with processes in reserve MPI_COMM_WORLD stands for a communicator
 * without them. Each function of MPI's that takes a communicator is here by both of its names, and
 * passes the call on with that communicator in place of MPI_COMM_WORLD. The functions are written
 * from MPI's prototypes when the library is built (SConstruct, write_world_calls).
 *
 * libregroup-mpi.so preloads this library before itself where RG_RESERVE asks for it
 * (mpi/fault/fault_world.c), so that it is in the way of no other job. */
#include <dlfcn.h>
#include <mpi.h>
#include <regroup/error.h>
#include <regroup/mpi-ext.h>
#include <stdatomic.h>
#include <stdio.h>

/* Set by libregroup-mpi.so. */
extern RG_API MPI_Comm rgi_world_comm;
MPI_Comm rgi_world_comm = MPI_COMM_WORLD;

static inline MPI_Comm meant(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? rgi_world_comm : comm;
}

/* The function of the libraries behind this one. */
#define NEXT(function)                                                                             \
  ({                                                                                               \
    static _Atomic(void *) next_;                                                                  \
    void *found_ = atomic_load_explicit(&next_, memory_order_relaxed);                             \
    if (!found_) {                                                                                 \
      found_ = dlsym(RTLD_NEXT, #function);                                                        \
      atomic_store_explicit(&next_, found_, memory_order_relaxed);                                 \
    }                                                                                              \
    (__typeof__(function) *)found_;                                                                \
  })

/* What Fortran's bindings call, which no header declares. type: of the attribute's value. */
RG_API int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag, int type);
RG_API int MPII_Comm_set_attr(MPI_Comm comm, int key, void *value, int type);

int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag, int type) {
  return NEXT(MPII_Comm_get_attr)(meant(comm), key, value, flag, type);
}

int MPII_Comm_set_attr(MPI_Comm comm, int key, void *value, int type) {
  return NEXT(MPII_Comm_set_attr)(meant(comm), key, value, type);
}

#if MPI_VERSION >= 4
/* A session's groups would have the processes in reserve. */
static int refuse_session(void) {
  fprintf(stderr, "regroup: MPI_Session_init: not in a job with processes in reserve\n");
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

RG_API int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
  (void)info, (void)handler, (void)session;
  return refuse_session();
}

RG_API int PMPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
  (void)info, (void)handler, (void)session;
  return refuse_session();
}
#endif

#include "world_calls.h"

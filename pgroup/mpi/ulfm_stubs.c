/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's fault-tolerance extension in a build that knows MPI's standard alone (scons MPICH=no): the
 * calls, which MPICH itself ends the job for, are errors. Other libraries of MPI have them. */
#include <regroup/mpi-ext.h>
#include <stdio.h>

#include "base/error.h"
#include "mpi/intercept.h"

#ifdef MPICH_VERSION

static int refuse(const char *call, MPI_Comm comm) {
  char text[120];
  snprintf(text, sizeof text,
           "regroup: %s: this job tolerates no faults: calls of this MPI cannot be interrupted",
           call);
  return rgi_intercept_raise_code(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm,
                                  MPI_ERR_UNSUPPORTED_OPERATION, text);
}

RG_API int MPIX_Comm_revoke(MPI_Comm comm) {
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag) {
  (void)flag;
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm) {
  (void)newcomm;
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request) {
  (void)newcomm, (void)request;
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_agree(MPI_Comm comm, int *flag) {
  (void)flag;
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request) {
  (void)flag, (void)request;
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_failure_ack(MPI_Comm comm) {
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *acked) {
  (void)acked;
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed) {
  (void)failed;
  return refuse(__func__, comm);
}

RG_API int MPIX_Comm_ack_failed(MPI_Comm comm, int n, int *acknowledged) {
  (void)n, (void)acknowledged;
  return refuse(__func__, comm);
}

#endif

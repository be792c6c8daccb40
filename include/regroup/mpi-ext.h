/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's fault-tolerance extension (User Level Failure Mitigation, ULFM) in programs of MPI that
 * libregroup-mpi.so serves: what MPICH's mpi.h lacks of it. The names, types and values are those
 * of the extension. docs/ulfm.md says what each call does.
 *
 * Unlike the other headers' functions these return MPI's error codes, by the communicator's error
 * handler. MPI_ERR_UNSUPPORTED_OPERATION: the job was not started by regroup-run, or calls of this
 * MPI cannot be interrupted. A program that calls those declared here is linked with
 * libregroup-mpi; MPICH's library has the five others, so that preloading suffices. */
#ifndef REGROUP_MPI_EXT_H
#define REGROUP_MPI_EXT_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A key of MPI_Comm_get_attr: on MPI_COMM_WORLD an int, 1 where the job tolerates faults; else it
 * is not set. */
#define MPIX_FT ((int)0x24000077)

/* The error classes as other MPIs also name them. */
#ifndef MPI_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED
#endif

/* Whether a member has revoked the communicator, as far as this process knows. Local. */
int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag);

/* The processes of the communicator that this one knows to have failed, in the order in which it
 * has learnt of them. Local. The caller frees the group. */
int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed);

/* Acknowledges the first n of these, and tells how many are acknowledged now. Local. */
int MPIX_Comm_ack_failed(MPI_Comm comm, int n, int *acknowledged);

/* MPIX_Comm_agree and MPIX_Comm_shrink with a request. Collective. The shrinking is made in the
 * members' waits and tests for it, which wait for one another. All members begin several
 * shrinkings in the same order, also on different communicators. */
int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request);
int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);

#ifdef __cplusplus
}
#endif
#endif

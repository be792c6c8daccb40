/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Communicators made by their members alone.
 *
 * What these calls have in common:
 *
 *  - Only the members of the new communicator call. A caller that is no member
 *    gets MPI_COMM_NULL at once and sends nothing; nobody else needs to call.
 *  - Calls with different groups are separate operations. Groups that share no
 *    process may use the same tag at the same time; groups that overlap need
 *    different tags, or an order that all their members keep.
 *  - Several threads of a process may call at the same time with different tags
 *    (MPI_THREAD_MULTIPLE).
 *  - Before anything is made the members agree, in 2 (g - 1) small messages
 *    along a binomial tree, that all of them call with the same list and that
 *    none is short of communicators. So a disagreement or a full table is an
 *    error on all of them instead of a hang.
 *  - They send point-to-point messages on `comm` with tag `tag` between the
 *    members, as the proposal for MPI_Comm_create_group allows: there must be no
 *    pending message or open receive of the application's on comm that matches.
 *  - The library need not be initialised (rg_init).
 *  - In a job that survives (RG_SURVIVE), where rg_init has been called, a member
 *    that dies, before or while the communicator is made, is RG_ERR_PROC_FAILED; a
 *    second agreement follows, so that nobody gets a communicator that some members have
 *    not made. Messages of a failed call may still be on their way: use another tag for
 *    the next one on `comm`. The method is native there. With another MPI than MPICH
 *    4.0 with UCX such a call may wait until RG_PATIENCE ends the job.
 *  - The new communicator is the caller's, to be freed with MPI_Comm_free; it
 *    inherits comm's error handler.
 *
 * Members that make several overlapping communicators in a cyclic order
 * deadlock, with MPI's own call too: keep one order. RG_TIMEOUT ends such a wait
 * while the members agree. */
#ifndef REGROUP_COMM_H
#define REGROUP_COMM_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  RG_METHOD_AUTO,      /* the faster one here: see docs/rationale.md */
  RG_METHOD_RECURSIVE, /* recursive inter-communicator creation and merging */
  RG_METHOD_NATIVE     /* MPI_Comm_create_group */
} rg_method;

/* The name of a method ("auto", "recursive", "native"), or NULL for a number
 * that is none. Local; any thread. */
RG_API const char *rg_method_name(rg_method method);

/* A communicator of the processes of `group`, in that group's order.
 *
 * Who calls: every member of group, with the same group, tag and method.
 * comm: an intra-communicator that holds all of group. tag: 0 to MPI_TAG_UB.
 * Source: Dinan et al., Noncollective Communicator Creation in MPI, EuroMPI
 * 2011 (recursive); MPI-3, 6.4.2 (native).
 * Cost for g members, besides the agreement: recursive O(log^2 g) time in
 * O(log g) rounds, each an MPI_Intercomm_create and an MPI_Intercomm_merge;
 * native O(log g).
 * Errors: RG_ERR_COMM (null, or an inter-communicator); RG_ERR_GROUP (null, or
 * no subset of comm's); RG_ERR_TAG; RG_ERR_ARG (method, newcomm);
 * RG_ERR_MISMATCH (members called with different lists or methods);
 * RG_ERR_LIMIT (a member has too many communicators alive); RG_ERR_TIMEOUT;
 * RG_ERR_PROC_FAILED; RG_ERR_MPI. */
RG_API int rg_comm_create_group(MPI_Comm comm, MPI_Group group, int tag, rg_method method,
                                MPI_Comm *newcomm);

/* An inter-communicator between two groups that share no process: first a local
 * communicator for each, then MPI_Intercomm_create between their first ranks.
 *
 * Who calls: every member of both groups; `local` is the caller's own group and
 * `remote` the other one, so the two sides name them in opposite order. A caller
 * in neither, or where either group is empty, gets MPI_COMM_NULL.
 * Errors: as above, and RG_ERR_GROUP (the groups overlap, or the caller is a
 * member of remote instead of local). */
RG_API int rg_intercomm_create_group(MPI_Comm comm, MPI_Group local, MPI_Group remote, int tag,
                                     rg_method method, MPI_Comm *newcomm);

/* How many communicators made by this library are alive in this process. Local;
 * any thread. Errors: RG_ERR_ARG. */
RG_API int rg_comm_count(int *count);

#ifdef __cplusplus
}
#endif
#endif

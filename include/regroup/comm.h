/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Communicators made by their members alone.
 *
 * The following holds for all of these calls:
 *
 *  - Only the members of the new communicator need to call. A caller that is not a
 *    member gets MPI_COMM_NULL at once and sends nothing.
 *  - Calls with different groups are separate operations. Groups that share no
 *    process may use the same tag at the same time; groups that overlap need
 *    different tags, or an order that all their members keep.
 *  - Threads of a process that call at the same time need different tags (runtime.h).
 *  - Between rg_init and rg_finalize, if all members belong to the library's world, they agree
 *    before anything is made, by 2 (g - 1) small messages along a binomial tree on a
 *    communicator of the library's own, that all of them call with the same list and that
 *    each of them can make another communicator. So a disagreement or a full table of
 *    communicators gives an error on all of them instead of a hang.
 *  - Otherwise the calls are as MPI's own: nothing is sent on `comm` that a receive of the
 *    application's could take, and members that disagree hang, as with MPI. One exception: with
 *    MPI_THREAD_MULTIPLE the recursive method, and inter-communicators, send messages without
 *    data on `comm` with tag `tag`.
 *  - In a job that survives (RG_SURVIVE), if rg_init has been called, the death of a
 *    member before or while the communicator is made gives RG_ERR_PROC_FAILED. A
 *    second agreement follows, so that no member gets a communicator that some members
 *    have not made. Messages of a failed call may still be under way: use another tag
 *    for the next call on `comm`. The method is native in such a job. With an MPI other
 *    than MPICH 4.0 with UCX such a call may wait until RG_PATIENCE ends the job.
 *  - The caller owns the new communicator and frees it with MPI_Comm_free. It
 *    inherits comm's error handler.
 *
 * Members that make several overlapping communicators in a cyclic order deadlock, as
 * with MPI's own call: all members must keep the same order. While the members agree,
 * RG_TIMEOUT ends such a wait. */
#ifndef REGROUP_COMM_H
#define REGROUP_COMM_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  RG_METHOD_AUTO,      /* RG_METHOD_NATIVE, the faster one at every size */
  RG_METHOD_RECURSIVE, /* recursive inter-communicator creation and merging */
  RG_METHOD_NATIVE     /* MPI_Comm_create_group */
} rg_comm_method;

/* The name of a method ("auto", "recursive", "native"), or NULL if there is no such
 * method. Local; any thread. */
RG_API const char *rg_comm_method_name(rg_comm_method method);

/* Makes a communicator of the processes of `group`, in that group's order.
 *
 * Callers: every member of group, with the same group, tag and method.
 * comm: an intra-communicator that contains all of group. tag: 0 to MPI_TAG_UB.
 * Source: Dinan et al., Noncollective Communicator Creation in MPI, EuroMPI
 * 2011 (recursive); MPI-3, 6.4.2 (native).
 * Cost for g members, in addition to the agreement: recursive O(log^2 g) time in
 * O(log g) rounds, each an MPI_Intercomm_create and an MPI_Intercomm_merge;
 * native O(log g).
 * Errors: RG_ERR_COMM (null, or an inter-communicator); RG_ERR_GROUP (null, or
 * not a subset of comm's); RG_ERR_TAG; RG_ERR_ARG (method, newcomm); RG_ERR_MPI.
 * Where the members agree: RG_ERR_MISMATCH (members called with different lists or methods);
 * RG_ERR_LIMIT (a member has too many communicators alive); RG_ERR_TIMEOUT; RG_ERR_PROC_FAILED. */
RG_API int rg_comm_create_group(MPI_Comm comm, MPI_Group group, int tag, rg_comm_method method,
                                MPI_Comm *newcomm);

/* Makes an inter-communicator between two groups that share no process: first a local
 * communicator of each, then MPI_Intercomm_create between their first ranks.
 *
 * Callers: every member of both groups. `local` is the caller's own group and `remote`
 * the other one, so the two sides pass them in opposite order. A caller that is in
 * neither gets MPI_COMM_NULL, and so does every caller if one of the groups is empty.
 * Cost: a communicator of each group by rg_comm_create_group, and an MPI_Intercomm_create.
 * Errors: those of rg_comm_create_group, and RG_ERR_GROUP (the groups overlap, or the caller is a
 * member of remote instead of local). */
RG_API int rg_intercomm_create_group(MPI_Comm comm, MPI_Group local, MPI_Group remote, int tag,
                                     rg_comm_method method, MPI_Comm *newcomm);

/* The number of communicators in this process that this library has made and that are
 * not freed. Local; any thread. Errors: RG_ERR_ARG. */
RG_API int rg_comm_count(int *count);

#ifdef __cplusplus
}
#endif
#endif

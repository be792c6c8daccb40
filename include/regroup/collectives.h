/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Collective operations on groups.
 *
 * Callers: every member of the group calls the same operations in the same order,
 * with arguments that match as MPI requires. The functions have the meaning of
 * MPI's operations of the same names, with these differences and additions:
 *
 *  - Counts are MPI_Count, displacements MPI_Aint (in extents of the type).
 *  - The group need not have a communicator, and the library sends nothing on the
 *    application's communicators. Roots are ranks of the group. There are no forms
 *    for two groups (inter-communicators), no MPI_ROOT, and no persistent and no
 *    neighbourhood collectives, nor MPI_Alltoallw.
 *  - Any datatype may be used, also with gaps, and any operation that MPI allows on
 *    it, also user-defined ones. User-defined operations (MPI_Op_create) must not
 *    call the library. They get all elements
 *    of a call at once, as with MPICH (reduce-scatter: all of one or more blocks).
 *    If an operation does not commute the order of ranks is kept.
 *  - MPI_IN_PLACE may be used where MPI allows it; counts may be 0.
 *  - A blocking function returns when the caller's part is complete. A non-blocking
 *    function (rg_i...) returns at once with a request (request.h). The caller does
 *    not change buffers, arrays of counts, types and operations until the request is
 *    complete. A blocking call of one member does not match a non-blocking call of
 *    another.
 *  - One thread at a time calls on a group (runtime.h).
 *  - A group may be freed while non-blocking operations that this process has started on
 *    it are under way: they end normally, and the memory is given back with the last of
 *    them. The same holds for a communicator and its group (rg_comm_group).
 *  - Errors are return values; no error handler is called. Lengths that do not match
 *    are errors (below), also where MPI does not detect them. On a group with a dead
 *    member a call that would wait returns RG_ERR_PROC_FAILED (recovery.h).
 *  - The bits of a floating-point sum may differ from MPI's and between groups;
 *    those of rg_sum_reproducible do not.
 *
 * Inside a node data move through shared memory; between nodes one member on each
 * node, the node leader, communicates for the members there. A cost model selects
 * the algorithm; the end of this file describes how the user selects one.
 *
 * Errors of all functions, detected before anything is sent: RG_ERR_GROUP (the caller
 * is not a member); RG_ERR_RANK (the root is not a rank of the group); RG_ERR_ARG (a
 * negative count, a NULL buffer with a count, no type, an operation that is not
 * defined on the type, MPI_IN_PLACE where it has no meaning). Later errors:
 * RG_ERR_TRUNCATE or RG_ERR_MISMATCH (a member from which the caller takes data has
 * passed a larger, or a smaller, length, or in a long broadcast another root; the result is
 * invalid. With messages the operation continues to its end. In shared memory each later operation
 * of the group returns RG_ERR_MISMATCH until it is formed again, by rg_group_dup for example; all
 * handles that rg_group_world returns are one group. A count of 0 on some members only is detected
 * by the next operation, if at all, and another root of a short operation is not); RG_ERR_TIMEOUT
 * (the buffers may still be written to); RG_ERR_NOMEM; RG_ERR_MPI. When a node's arena is full the
 * operations continue, but long ones are many times slower there, and a warning is logged;
 * RG_ERR_NOMEM remains where there is no room for a group's flags at its first operation, or a
 * process has no memory of its own. Then the other members' operations return RG_ERR_MISMATCH until
 * the group is formed again; those that had ended their part have returned RG_SUCCESS. */
#ifndef REGROUP_COLLECTIVES_H
#define REGROUP_COLLECTIVES_H

#include <mpi.h>

#include <regroup/error.h>
#include <regroup/group.h>
#include <regroup/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns when every member has called. */
RG_API int rg_barrier(rg_group g);
RG_API int rg_ibarrier(rg_group g, rg_request *request);

/* Copies the root's buffer to all members. */
RG_API int rg_bcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root);
RG_API int rg_ibcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root,
                     rg_request *request);

/* Combines the members' vectors element by element, with the result at the root
 * (reduce) or on all members (allreduce). recv is significant only where the result is
 * stored. In place: send is MPI_IN_PLACE at the root (reduce) or on all members
 * (allreduce). */
RG_API int rg_reduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                     MPI_Op op, int root);
RG_API int rg_ireduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                      MPI_Op op, int root, rg_request *request);
RG_API int rg_allreduce(rg_group g, const void *send, void *recv, MPI_Count count,
                        MPI_Datatype type, MPI_Op op);
RG_API int rg_iallreduce(rg_group g, const void *send, void *recv, MPI_Count count,
                         MPI_Datatype type, MPI_Op op, rg_request *request);

/* Gathers every member's block at the root, in the order of ranks. recv_count is the
 * count of one block; the recv arguments are significant only at the root. In place:
 * send is MPI_IN_PLACE at the root, whose block is in its place in recv already. */
RG_API int rg_gather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                     void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root);
RG_API int rg_igather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                      void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
                      rg_request *request);
RG_API int rg_gatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                      void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                      MPI_Datatype recv_type, int root);
RG_API int rg_igatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                       void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                       MPI_Datatype recv_type, int root, rg_request *request);

/* The reverse: sends one of the root's blocks to every member. The send arguments are
 * significant only at the root. In place: recv is MPI_IN_PLACE at the root. */
RG_API int rg_scatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                      void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root);
RG_API int rg_iscatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                       void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
                       rg_request *request);
RG_API int rg_scatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                       const MPI_Aint displs[], MPI_Datatype send_type, void *recv,
                       MPI_Count recv_count, MPI_Datatype recv_type, int root);
RG_API int rg_iscatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                        const MPI_Aint displs[], MPI_Datatype send_type, void *recv,
                        MPI_Count recv_count, MPI_Datatype recv_type, int root,
                        rg_request *request);

/* Gathers every member's block on all members. In place: send is MPI_IN_PLACE on all
 * members. */
RG_API int rg_allgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                        void *recv, MPI_Count recv_count, MPI_Datatype recv_type);
RG_API int rg_iallgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                         void *recv, MPI_Count recv_count, MPI_Datatype recv_type,
                         rg_request *request);
RG_API int rg_allgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                         void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                         MPI_Datatype recv_type);
RG_API int rg_iallgatherv(rg_group g, const void *send, MPI_Count send_count,
                          MPI_Datatype send_type, void *recv, const MPI_Count recv_counts[],
                          const MPI_Aint displs[], MPI_Datatype recv_type, rg_request *request);

/* Sends a block from every member to every member. In place: send is MPI_IN_PLACE on
 * all members, and the data to send are taken from recv. */
RG_API int rg_alltoall(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                       void *recv, MPI_Count recv_count, MPI_Datatype recv_type);
RG_API int rg_ialltoall(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                        void *recv, MPI_Count recv_count, MPI_Datatype recv_type,
                        rg_request *request);
RG_API int rg_alltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                        const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                        const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                        MPI_Datatype recv_type);
RG_API int rg_ialltoallv(rg_group g, const void *send, const MPI_Count send_counts[],
                         const MPI_Aint send_displs[], MPI_Datatype send_type, void *recv,
                         const MPI_Count recv_counts[], const MPI_Aint recv_displs[],
                         MPI_Datatype recv_type, rg_request *request);

/* Combines the vectors and sends block i of the result to rank i. In place: send is
 * MPI_IN_PLACE on all members; recv holds the whole vector before the call, and the
 * caller's block, at its beginning, afterwards. */
RG_API int rg_reduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                             MPI_Datatype type, MPI_Op op);
RG_API int rg_ireduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                              MPI_Datatype type, MPI_Op op, rg_request *request);
RG_API int rg_reduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                                   MPI_Datatype type, MPI_Op op);
RG_API int rg_ireduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                                    MPI_Datatype type, MPI_Op op, rg_request *request);

/* Combines the vectors of ranks 0 to the caller's; exscan excludes the caller's vector
 * and does not change recv of rank 0. In place: send is MPI_IN_PLACE on all members. */
RG_API int rg_scan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                   MPI_Op op);
RG_API int rg_iscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                    MPI_Op op, rg_request *request);
RG_API int rg_exscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                     MPI_Op op);
RG_API int rg_iexscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                      MPI_Op op, rg_request *request);

/* --- sums that do not depend on the grouping ------------------------------- */

/* The sum of all members' x[0..n-1]; n may differ between members. The call computes
 * the exact sum and rounds it once (to nearest, ties to even). The bits are the same for
 * the same operands in any order, on any number of members, and the same on all
 * members. Infinities and NaNs give the result of IEEE addition: a NaN, always with the
 * same bits, if there is a NaN or both infinities. A sum of no operands is 0; an exact
 * sum of 0 is +0.
 * Callers: every member. Cost: O(n) work, and an allreduce of 568 bytes; the same for
 * float. */
RG_API int rg_sum_reproducible(rg_group g, const double *x, MPI_Count n, double *result);
RG_API int rg_sum_reproducible_float(rg_group g, const float *x, MPI_Count n, float *result);

/* The same for vectors: the rows are x[i * columns + j], i < n; result[j] is the sum of
 * column j over all rows of all members. columns is the same on all members. */
RG_API int rg_sums_reproducible(rg_group g, const double *x, MPI_Count n, MPI_Count columns,
                                double *result);

/* --- plain communicators ------------------------------------------------------ */

/* Returns a group of comm's processes in comm's order, for collectives on a plain
 * communicator: rg_comm_group(comm, &g); rg_barrier(g).
 * Callers: every process of comm, the first time; afterwards the call is local. No message.
 * *g belongs to comm and is freed with it; the caller does not free it. Each communicator has its
 * own group, as it has its own context. Errors: RG_ERR_COMM (null, or an inter-communicator);
 * RG_ERR_GROUP (a process of comm is not among those of rg_init). */
RG_API int rg_comm_group(MPI_Comm comm, rg_group *g);

/* --- choosing an algorithm ------------------------------------------------------ */

typedef enum {
  RG_OP_BARRIER,
  RG_OP_BCAST,
  RG_OP_REDUCE,
  RG_OP_ALLREDUCE,
  RG_OP_GATHER,
  RG_OP_GATHERV,
  RG_OP_SCATTER,
  RG_OP_SCATTERV,
  RG_OP_ALLGATHER,
  RG_OP_ALLGATHERV,
  RG_OP_ALLTOALL,
  RG_OP_ALLTOALLV,
  RG_OP_REDUCE_SCATTER, /* with and without _block */
  RG_OP_SCAN,
  RG_OP_EXSCAN,
  RG_OP_COUNT /* the number of operations in this version; not to be stored */
} rg_operation;

/* Selects the algorithm that this group uses for the operation from now on; "auto" or
 * NULL restores the automatic choice. Callers: every member, with the same arguments.
 * Local. "hierarchical" may be followed by the algorithm between the nodes and the one
 * inside each node: "hierarchical:pipelined", "hierarchical:binomial:linear". Inside a node
 * "shared" is shared memory in whichever way suits the length, and the ways have names of their
 * own: "levels", "cells", "once", "spread", "direct", "chunks" (docs/collectives.md). A call that
 * the algorithm cannot serve (its constraint: rg_algorithm_get) uses the automatic choice. The
 * environment takes precedence: RG_COLL="bcast=binomial,barrier=linear", read by rg_init. Errors:
 * RG_ERR_ARG (no such operation); RG_ERR_OPTION (no such algorithm). */
RG_API int rg_group_set_algorithm(rg_group g, rg_operation operation, const char *name);

/* The name of the algorithm that a blocking call of the operation would use on this
 * group; in shared memory that of the way, or "shared" where there is only one (barrier). The name
 * belongs to the library. bytes: of a block (gather, scatter, alltoall,
 * reduce_scatter) or of the whole vector. Local. */
RG_API int rg_group_algorithm(rg_group g, rg_operation operation, MPI_Count bytes,
                              const char **name);

/* The name of an operation ("bcast"), or NULL if there is no such operation. Local; works
 * before rg_init. The string belongs to the library. */
RG_API const char *rg_operation_name(rg_operation operation);

/* The algorithms of an operation, numbered from 0. Local; the functions work before
 * rg_init. The strings belong to the library; name, cost and constraint may be NULL.
 * cost: the formula, in t_s (seconds to start a message), t_w (seconds for each
 * byte), t_c (seconds to combine a byte), p (members) and n (bytes). constraint: "", or
 * the condition that a call must satisfy. Errors: RG_ERR_ARG (no such number). */
RG_API int rg_algorithm_count(rg_operation operation, int *count);
RG_API int rg_algorithm_get(rg_operation operation, int i, const char **name, const char **cost,
                            const char **constraint);

/* The model's prediction, in seconds, for algorithm i with p members on the given
 * number of nodes. It uses the values of the file that RG_TUNING names (regroup-bench
 * tune writes it, rg_init reads it); before rg_init and without a file it uses built-in
 * values. Local. */
RG_API int rg_algorithm_predict(rg_operation operation, int i, int p, int nodes, MPI_Count bytes,
                                double *seconds);

#ifdef __cplusplus
}
#endif
#endif

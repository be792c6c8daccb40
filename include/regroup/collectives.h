/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Collective operations on groups.
 *
 * Who calls: every member of the group, the same operations in the same order,
 * with arguments that fit together as MPI has it. What they do is what MPI's
 * operations of the same names do; so only what is different is said here.
 *
 *  - Counts are MPI_Count, displacements MPI_Aint (in extents of the type).
 *  - Any datatype, also with gaps; any operation that MPI allows on it, also the
 *    user's own; the order of ranks is kept where the operation does not commute.
 *  - MPI_IN_PLACE where MPI allows it; counts may be 0; roots are ranks of the
 *    group.
 *  - The blocking forms return when the caller's part is done. The non-blocking
 *    forms (rg_i...) return at once with a request (request.h); buffers, arrays
 *    of counts, types and operations stay as they are until it is done. A
 *    blocking call of one member does not match a non-blocking one of another.
 *  - Operations of the user's (MPI_Op_create) call nothing of the library.
 *  - One thread at a time calls on a group; different groups may be used by
 *    different threads. A group is freed after its requests are done.
 *  - Nothing is sent on a communicator of the application.
 *
 * Inside a node data go through shared memory, between nodes one member of each
 * node speaks for its members there. Which algorithm does the work is chosen by
 * a cost model; see the end of this file for how to choose yourself.
 *
 * Errors of all of them: RG_ERR_GROUP (no member); RG_ERR_RANK (the root is no
 * rank of the group); RG_ERR_ARG (a negative count, NULL memory with a count, no
 * type, an operation that is not defined on the type, MPI_IN_PLACE where it has
 * no meaning): all these before anything is sent. Then RG_ERR_TRUNCATE or
 * RG_ERR_MISMATCH (another member means more, or less, than this one, which takes
 * data from it; the result is of no use. By messages the operation goes on to its
 * end. In shared memory the members are out of step from then on: every operation
 * of theirs is RG_ERR_MISMATCH until the group is formed anew. A count of 0 at
 * some of them only is found by the next operation, if at all); RG_ERR_TIMEOUT
 * (the buffers may still be written to); RG_ERR_NOMEM; RG_ERR_MPI. */
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

/* The root's buffer to all. */
RG_API int rg_bcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root);
RG_API int rg_ibcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root,
                     rg_request *request);

/* The members' vectors combined element by element, at the root or at all. recv
 * matters only where the result comes. In place: send is MPI_IN_PLACE at the root
 * (reduce) or at all (allreduce). */
RG_API int rg_reduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                     MPI_Op op, int root);
RG_API int rg_ireduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                      MPI_Op op, int root, rg_request *request);
RG_API int rg_allreduce(rg_group g, const void *send, void *recv, MPI_Count count,
                        MPI_Datatype type, MPI_Op op);
RG_API int rg_iallreduce(rg_group g, const void *send, void *recv, MPI_Count count,
                         MPI_Datatype type, MPI_Op op, rg_request *request);

/* Every member's block to the root, in the order of ranks. recv_count is of one
 * block; the recv arguments matter at the root only. In place: send is
 * MPI_IN_PLACE at the root, whose block is where it belongs already. */
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

/* The reverse: the root's blocks, one to every member. The send arguments matter
 * at the root only. In place: recv is MPI_IN_PLACE at the root. */
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

/* Every member's block to all. In place: send is MPI_IN_PLACE on all. */
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

/* A block from every member to every member. In place: send is MPI_IN_PLACE on
 * all, and what is sent is taken from recv. */
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

/* The vectors combined, then cut: block i of the result goes to rank i. In place:
 * send is MPI_IN_PLACE on all; recv holds the whole vector before and the
 * caller's block, at its beginning, afterwards. */
RG_API int rg_reduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                             MPI_Datatype type, MPI_Op op);
RG_API int rg_ireduce_scatter(rg_group g, const void *send, void *recv, const MPI_Count counts[],
                              MPI_Datatype type, MPI_Op op, rg_request *request);
RG_API int rg_reduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                                   MPI_Datatype type, MPI_Op op);
RG_API int rg_ireduce_scatter_block(rg_group g, const void *send, void *recv, MPI_Count count,
                                    MPI_Datatype type, MPI_Op op, rg_request *request);

/* The vectors of ranks 0 to the caller's combined; exscan: without the caller's,
 * and recv of rank 0 is left alone. In place: send is MPI_IN_PLACE on all. */
RG_API int rg_scan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                   MPI_Op op);
RG_API int rg_iscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                    MPI_Op op, rg_request *request);
RG_API int rg_exscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                     MPI_Op op);
RG_API int rg_iexscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                      MPI_Op op, rg_request *request);

/* --- sums that do not depend on the grouping ------------------------------- */

/* The sum of all members' x[0..n-1], n being each member's own. The exact sum is
 * worked out and rounded once (to nearest, ties to even): the bits are the same
 * for the same operands in whatever order, on however many members, and the same
 * on all members. Infinities and NaNs give what IEEE's addition gives: a NaN, of
 * one fixed kind, if there is a NaN or both infinities. A sum of no operands is
 * 0, an exact sum of 0 is +0.
 * Cost: O(n) work, and an allreduce of 568 bytes; float: the same. */
RG_API int rg_sum_reproducible(rg_group g, const double *x, MPI_Count n, double *result);
RG_API int rg_sum_reproducible_float(rg_group g, const float *x, MPI_Count n, float *result);

/* The same for vectors: rows x[i * columns + j], i < n; result[j] is the sum of
 * column j over all rows of all members. columns is the same on all. */
RG_API int rg_sums_reproducible(rg_group g, const double *x, MPI_Count n, MPI_Count columns,
                                double *result);

/* --- plain communicators ------------------------------------------------------ */

/* A group of comm's processes in comm's order, for collectives on a plain
 * communicator: rg_group_of_comm(comm, &g); rg_barrier(g).
 * Who calls: every process of comm, the first time; afterwards local. No message.
 * *g belongs to comm and is freed with it: do not free it. Each communicator has a group of its
 * own, as it has a context. Errors: RG_ERR_COMM (null, or an inter-communicator); RG_ERR_GROUP (a
 * process of comm is not among those of rg_init). */
RG_API int rg_group_of_comm(MPI_Comm comm, rg_group *g);

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
  RG_OP_COUNT
} rg_operation;

/* From here on this group uses the algorithm of this name for the operation;
 * "auto" or NULL: the automatic choice again. Every member calls alike. Local.
 * "hierarchical" may be followed by the algorithm between the nodes and the one
 * inside each: "hierarchical:pipelined", "hierarchical:binomial:linear".
 * A call that the algorithm cannot serve (its constraint: rg_algorithm_get) uses
 * the automatic choice. The environment goes before it:
 * RG_COLL="bcast=binomial,barrier=linear", read when the first collective of the
 * process is called.
 * Errors: RG_ERR_ARG (no such operation); RG_ERR_OPTION (no such algorithm, or
 * RG_COLL names one: then every collective fails until it is corrected). */
RG_API int rg_group_set_algorithm(rg_group g, rg_operation operation, const char *name);

/* What a blocking call of the operation would use on this group: the name, which
 * belongs to the library. bytes: of a block (gather, scatter, alltoall,
 * reduce_scatter) or of the whole vector; op: for reductions. Local. */
RG_API int rg_group_algorithm(rg_group g, rg_operation operation, MPI_Count bytes,
                              const char **name);

/* The name of an operation, "bcast"; and its algorithms, numbered from 0. Local;
 * they work before rg_init. The texts belong to the library; any pointer may be
 * NULL. cost: the formula, in t_s (seconds to start a message), t_w (for each
 * byte), t_c (to combine a byte), p (members) and n (bytes). constraint: "" or
 * what a call must be like. Errors: RG_ERR_ARG (no such number). */
RG_API int rg_operation_name(rg_operation operation, const char **name);
RG_API int rg_algorithm_count(rg_operation operation, int *count);
RG_API int rg_algorithm_get(rg_operation operation, int i, const char **name, const char **cost,
                            const char **constraint);

/* The model's prediction for algorithm i with p members on so many nodes, in
 * seconds: with the values of the file that RG_TUNING names (regroup-bench tune
 * writes it, rg_init reads it), before rg_init and without a file with built-in
 * ones. Local. */
RG_API int rg_algorithm_predict(rg_operation operation, int i, int p, int nodes, MPI_Count bytes,
                                double *seconds);

#ifdef __cplusplus
}
#endif
#endif

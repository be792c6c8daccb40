/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Collectives among the members of a group that are on one node, in shared
 * memory. Every member calls the same operations in the same order; blocking. */
#ifndef RGI_LOCAL_H
#define RGI_LOCAL_H

#include <mpi.h>
#include <regroup/group.h>
#include <stddef.h>

typedef struct rgi_local rgi_local;

/* The members of g on the caller's node, in g's order. Local: no message, no
 * waiting; the shared memory is attached at the first operation. */
int rgi_local_attach(rg_group g, rgi_local **l);
void rgi_local_free(rgi_local *l);

/* What g's members have on their node for groups of the same members is of no more use,
 * since g is revoked: groups that are formed from now on have their own. */
void rgi_local_break(rg_group g);

int rgi_local_size(const rgi_local *l);
int rgi_local_me(const rgi_local *l);
int rgi_local_rank(const rgi_local *l, int i); /* local member i's rank in g */

/* call: the public function, for errors. root: a local member. bytes, count: the
 * same on all. Types are contiguous (extent = size). Reductions keep the order
 * of members and give the same bits to all of them. in may equal out where both
 * have the same size. Errors: RG_ERR_NOMEM (the arena is full: on the member that
 * finds it; the others wait), RG_ERR_TIMEOUT, RG_ERR_MPI. */
int rgi_local_barrier(rgi_local *l, const char *call);
int rgi_local_bcast(rgi_local *l, void *data, size_t bytes, int root, const char *call);
int rgi_local_reduce(rgi_local *l, const void *in, void *out, size_t count, MPI_Datatype type,
                     MPI_Op op, int root, const char *call);
int rgi_local_allreduce(rgi_local *l, const void *in, void *out, size_t count, MPI_Datatype type,
                        MPI_Op op, const char *call);

/* bytes: of each member's block. out is used at the root (gather), at all
 * (allgather); in at the root (scatter). Blocks are in the order of members. */
int rgi_local_gather(rgi_local *l, const void *in, size_t bytes, void *out, int root,
                     const char *call);
int rgi_local_scatter(rgi_local *l, const void *in, size_t bytes, void *out, int root,
                      const char *call);
int rgi_local_allgather(rgi_local *l, const void *in, size_t bytes, void *out, const char *call);
int rgi_local_alltoall(rgi_local *l, const void *in, size_t bytes, void *out, const char *call);

#endif

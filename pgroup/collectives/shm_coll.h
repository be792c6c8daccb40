/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Collectives among the members of a group that are on one node, in shared
 * memory. Every member calls the same operations in the same order; blocking. */
#ifndef RGI_SHM_COLL_H
#define RGI_SHM_COLL_H

#include <mpi.h>
#include <regroup/group.h>
#include <stddef.h>

typedef struct rgi_shm_coll rgi_shm_coll;

/* The members of g on the caller's node, in g's order. Local: no message, no
 * waiting; the shared memory is attached at the first operation. */
int rgi_shm_coll_attach(rg_group g, rgi_shm_coll **l);
void rgi_shm_coll_free(rgi_shm_coll *l);

/* What g's members have on their node for groups of the same members is of no more use,
 * since g is revoked: groups that are formed from now on have their own. */
void rgi_shm_coll_invalidate(rg_group g);

int rgi_shm_coll_size(const rgi_shm_coll *l);
int rgi_shm_coll_rank(const rgi_shm_coll *l);
int rgi_shm_coll_group_rank(const rgi_shm_coll *l, int i); /* local member i's rank in g */

/* call: the public function, for errors. root: a local member. bytes, count: the
 * same on all. Types are contiguous (extent = size). Reductions keep the order
 * of members and give the same bits to all of them. in may equal out where both
 * have the same size. Errors: RG_ERR_NOMEM (the arena is full: on the member that
 * finds it; the others wait), RG_ERR_TIMEOUT, RG_ERR_MPI. */
int rgi_shm_coll_barrier(rgi_shm_coll *l, const char *call);
int rgi_shm_coll_bcast(rgi_shm_coll *l, void *data, size_t bytes, int root, const char *call);
int rgi_shm_coll_reduce(rgi_shm_coll *l, const void *in, void *out, size_t count, MPI_Datatype type,
                        MPI_Op op, int root, const char *call);
int rgi_shm_coll_allreduce(rgi_shm_coll *l, const void *in, void *out, size_t count,
                           MPI_Datatype type, MPI_Op op, const char *call);

/* bytes: of each member's block. out is used at the root (gather), at all
 * (allgather); in at the root (scatter). Blocks are in the order of members. */
int rgi_shm_coll_gather(rgi_shm_coll *l, const void *in, size_t bytes, void *out, int root,
                        const char *call);
int rgi_shm_coll_scatter(rgi_shm_coll *l, const void *in, size_t bytes, void *out, int root,
                         const char *call);
int rgi_shm_coll_allgather(rgi_shm_coll *l, const void *in, size_t bytes, void *out,
                           const char *call);
int rgi_shm_coll_alltoall(rgi_shm_coll *l, const void *in, size_t bytes, void *out,
                          const char *call);

#endif

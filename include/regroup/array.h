/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Distributed arrays: dense arrays of 1 to 7 dimensions whose elements are divided
 * among the members of a group. Any member reads and changes any element without
 * a call by the element's owner (one-sided). The library is libregroup-arrays.
 *
 *  - Order of elements: C order (the last dimension varies fastest), in arrays and in
 *    buffers.
 *  - A patch consists of the elements with lo[d] <= i < hi[d] in each dimension d. A
 *    patch may be empty: lo[d] = hi[d] in some dimension.
 *  - A buffer holds a patch as a C array buf[..][ld[0]]..[ld[dims-2]]: ld[d] is the
 *    buffer's extent in dimension d + 1, at least the patch's. ld = NULL means
 *    exactly the patch's extents.
 *  - Ranks are ranks in the group of the array. Any member may call one-sided
 *    functions at any time, in any number. Other members take part only between
 *    nodes, and only where this is stated (progress, below).
 *  - Order and completion. A blocking put or accumulate returns when the buffer may
 *    be changed. Its effect is visible to other processes after rg_array_fence by the
 *    caller, or after rg_array_sync by all members. A get returns with the data.
 *    Operations of one process on the same elements are performed in the order of its
 *    calls. Concurrent accumulates and read-increments by any processes lose no
 *    update. A put that is concurrent with another change of the same element leaves
 *    one of the two values.
 *  - Inside a node every operation is a load or store: no message is sent, and the
 *    target does not take part. Between nodes ARMCI-MPI carries it out: one message for
 *    a contiguous or strided patch of one owner, or for up to 1024 rows of its blocks.
 *    The target process must enter the library or MPI from time to time (in any wait,
 *    in rg_progress, or by RG_PROGRESS_THREAD=1). In a job that survives (RG_SURVIVE)
 *    the node daemons carry it out, and the target process need do nothing.
 *  - Threads: any may make one-sided calls, also on the same array; collective calls are
 *    made by one thread at a time (runtime.h). Only operations of the same thread are
 *    ordered. Freeing what is in use: runtime.h.
 *
 * Every function may return RG_ERR_NOT_INIT, RG_ERR_ARRAY (NULL, or freed) and
 * RG_ERR_ARG (an output or buffer is NULL; a lower bound of a patch is above the upper
 * one; a leading dimension is less than the patch's extent). For a patch or element
 * that is not inside the array they return RG_ERR_BOUNDS and do nothing; the message
 * names the dimension, the index and the bound. A call that waits for a process that
 * has died returns RG_ERR_PROC_FAILED. So does an accumulate or lock if the process
 * died while it held the lock, and an access to elements on another node when all
 * processes there have died, also if it is under way (docs/recovery.md). Only other
 * errors are named below. */
#ifndef REGROUP_ARRAY_H
#define REGROUP_ARRAY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <regroup/error.h>
#include <regroup/group.h>
#include <regroup/request.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_array_s *rg_array;

#define RG_ARRAY_MAX_DIMS 7

/* Types of elements. A complex element is two floats or doubles, real part first. */
typedef enum {
  RG_TYPE_INT32,
  RG_TYPE_INT64,
  RG_TYPE_FLOAT,
  RG_TYPE_DOUBLE,
  RG_TYPE_FLOAT_COMPLEX,
  RG_TYPE_DOUBLE_COMPLEX,
  RG_TYPE_OPAQUE, /* any bytes: no arithmetic */
  RG_TYPE_COUNT   /* the number of types in this version; later ones may have more */
} rg_array_type;

typedef enum {
  RG_LAYOUT_BLOCK,        /* one block for each member, of nearly equal sizes */
  RG_LAYOUT_IRREGULAR,    /* one block for each member, between given boundaries */
  RG_LAYOUT_BLOCK_CYCLIC, /* blocks of one size, assigned to the members in turn */
  /* The same blocks, but in memory each member's are one dense C array: a local matrix of
   * ScaLAPACK's, which is in the order of Fortran. A matrix of ScaLAPACK's with m rows and n
   * columns in blocks of mb x nb on a grid of p x q is thus the array of shape {n, m} with chunk
   * {nb, mb} and grid {q, p}, whose member q' * p + p' is the process of row p' and column q' (the
   * grid's order is 'C'). The local matrix begins with the member's first block; the ld that
   * rg_array_access returns for that is LLD. */
  RG_LAYOUT_SCALAPACK
} rg_array_layout;

/* Flags of an array. */
enum rg_array_flags {
  /* Each rg_array_sync stores a copy of each member's elements on another node, as they are
   * then. rg_array_recover needs it when a whole node is lost. The array takes five times the
   * memory, and each rg_array_sync moves all elements: docs/recovery.md. On one node the flag
   * changes nothing, since memory outlives its process there. */
  RG_ARRAY_MIRRORED = 1
};

/* The description of an array. The caller sets `size`; rg_array_spec_set then fills in the
 * plain case, and the caller changes single members. */
typedef struct {
  size_t size; /* sizeof(rg_array_spec): error.h */
  int dims;
  int64_t shape[RG_ARRAY_MAX_DIMS];
  rg_array_type type;
  size_t element_size; /* of RG_TYPE_OPAQUE, in bytes; others: 0 or their size */
  rg_array_layout layout;
  /* The number of members along each dimension. The product is at most the group's size (owners);
   * the remaining members own no element. 0: the library chooses. RG_LAYOUT_IRREGULAR: required. */
  int grid[RG_ARRAY_MAX_DIMS];
  /* RG_LAYOUT_BLOCK: a hint for the least extent of a block (0: no hint; -1: this dimension is
   * not divided; where none is, a warning is logged). Cyclic layouts: the extent of the blocks, at
   * least 1; more than the array's extent counts as that (rg_array_info). */
  int64_t chunk[RG_ARRAY_MAX_DIMS];
  /* RG_LAYOUT_IRREGULAR: for each dimension the grid[d] first indices of the blocks. They begin
   * with 0 and ascend; two equal ones make an empty block. Read only during the call. */
  const int64_t *boundaries[RG_ARRAY_MAX_DIMS];
  /* The number of ghost cells on either side (not with cyclic layouts), and whether
   * they wrap around at the array's edges. */
  int64_t ghosts[RG_ARRAY_MAX_DIMS];
  int periodic[RG_ARRAY_MAX_DIMS];
  unsigned flags; /* 0, or RG_ARRAY_MIRRORED */
  /* Only the first `owners` members of the group may own elements; 0: all. All members have access.
   * A group may be made with any order of its members (rg_group_create). */
  int owners;
  /* For the program's own use, in its messages: copied; may differ between members; NULL: none.
   * rg_array_info returns the array's copy, and rg_array_dup copies it. */
  const char *name;
} rg_array_spec;

/* Fills in the spec of an array with RG_LAYOUT_BLOCK layout, without ghosts or flags. Local.
 * Errors: RG_ERR_ARG (size is not set; not 1 to 7 dimensions; a negative extent; no such
 * type). */
RG_API int rg_array_spec_set(rg_array_spec *spec, rg_array_type type, int dims,
                             const int64_t shape[]);

/* --- creating and freeing ---------------------------------------------------- */

/* Makes an array on g. Callers: every member of g, with the same spec and in the same
 * order as its other array and mutex creations on g. The elements are undefined
 * (rg_array_zero). Cost: inside a node no message, and no member waits for later ones;
 * between nodes one small allgather. No window and no communicator is made. The caller
 * keeps g and may free it before the array.
 * Errors, on every member: RG_ERR_ARG (the spec; the message names the fault);
 * RG_ERR_LIMIT (its bytes, with ghosts and mirrored copies, overflow 63 bits); RG_ERR_NOMEM (the
 * array does not fit into the node's arena, or into a member's part of the array heap
 * (RG_ARRAY_SHARE); nothing has changed); RG_ERR_MISMATCH (members differ in their specs). If only
 * one member detects an error (its spec is wrong or differs), members on its node that made the
 * array before get the error from their first rg_array_sync. After an error there is nothing to
 * free. */
RG_API int rg_array_create(rg_group g, const rg_array_spec *spec, rg_array *a);

/* The same as rg_array_create, for a plain block distribution. */
RG_API int rg_array_create_simple(rg_group g, rg_array_type type, int dims, const int64_t shape[],
                                  rg_array *a);

/* Makes an array like a on the same group. The elements are not copied (rg_array_copy).
 * Callers, cost and errors: as for rg_array_create, with a's group. */
RG_API int rg_array_dup(rg_array a, rg_array *copy);

/* Frees the array and sets the handle to NULL. *a may be NULL. Callers: every member,
 * each when it no longer uses the array. No member waits for another: the memory is
 * freed with the last member (between nodes soon after it). */
RG_API int rg_array_free(rg_array *a);

/* --- queries (local; no message) ------------------------------------------------ */

/* The group of the array. It belongs to the array; the caller does not free it. */
RG_API int rg_array_group(rg_array a, rg_group *g);

/* The complete spec (with grid and element size); the caller has set its `size`. boundaries
 * is set for all layouts with one block for each member, and belongs to the array. */
RG_API int rg_array_info(rg_array a, rg_array_spec *spec);

/* *valid is 1 if the handle is an array that has not been freed and whose parts are
 * consistent, else 0 (also for NULL). */
RG_API int rg_array_is_valid(rg_array a, int *valid);

/* The rank that owns an element. */
RG_API int rg_array_owner(rg_array a, const int64_t at[], int *rank);

/* The number of blocks that a member owns (RG_LAYOUT_BLOCK, RG_LAYOUT_IRREGULAR: 1, also if it is
 * empty, or 0), and the patch of its i-th block. Errors: RG_ERR_RANK; RG_ERR_ARG (no
 * such block). */
RG_API int rg_array_block_count(rg_array a, int rank, int64_t *count);
RG_API int rg_array_block(rg_array a, int rank, int64_t i, int64_t lo[], int64_t hi[]);

/* The first block of a member; an empty patch if it owns none. Errors: RG_ERR_RANK. */
RG_API int rg_array_distribution(rg_array a, int rank, int64_t lo[], int64_t hi[]);

/* Divides a patch by owners: piece i, counted from 0, is lo..hi and belongs to rank.
 * rg_array_locate_count returns the number of pieces, rg_array_locate one of them. The
 * caller may request pieces in any order; in ascending order each request takes O(1).
 * Errors: RG_ERR_ARG (no such piece). */
typedef struct {
  int rank;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];
  int64_t reserved[2]; /* 0 */
} rg_array_piece;
RG_API int rg_array_locate_count(rg_array a, const int64_t lo[], const int64_t hi[],
                                 int64_t *count);
RG_API int rg_array_locate(rg_array a, const int64_t lo[], const int64_t hi[], int64_t i,
                           rg_array_piece *piece);

/* --- one-sided: patches ----------------------------------------------------------- */

/* put copies a buffer into the patch, get copies the patch into a buffer, and acc adds
 * *alpha * buffer to the patch. alpha points to one element (NULL: 1). Caller: any
 * member. Errors of acc: RG_ERR_ARG (RG_TYPE_OPAQUE). */
RG_API int rg_array_put(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                        const int64_t ld[]);
RG_API int rg_array_get(rg_array a, const int64_t lo[], const int64_t hi[], void *buf,
                        const int64_t ld[]);
RG_API int rg_array_acc(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                        const int64_t ld[], const void *alpha);

/* The non-blocking forms, completed by the functions of request.h. The caller does
 * not change buf and *alpha until then. Inside a node the operation is complete when the
 * call returns. Between nodes the call waits for earlier operations if more are under way
 * to one target than MPI supports. */
RG_API int rg_array_iput(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                         const int64_t ld[], rg_request *request);
RG_API int rg_array_iget(rg_array a, const int64_t lo[], const int64_t hi[], void *buf,
                         const int64_t ld[], rg_request *request);
RG_API int rg_array_iacc(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                         const int64_t ld[], const void *alpha, rg_request *request);

/* The same for every step[d]-th element of a patch, from lo[d] on. The buffer holds only
 * these elements: (hi - lo + step - 1) / step in each dimension. */
RG_API int rg_array_put_strided(rg_array a, const int64_t lo[], const int64_t hi[],
                                const int64_t step[], const void *buf, const int64_t ld[]);
RG_API int rg_array_get_strided(rg_array a, const int64_t lo[], const int64_t hi[],
                                const int64_t step[], void *buf, const int64_t ld[]);
RG_API int rg_array_acc_strided(rg_array a, const int64_t lo[], const int64_t hi[],
                                const int64_t step[], const void *buf, const int64_t ld[],
                                const void *alpha);

/* The same for patches that extend over the edges and wrap around in every dimension. lo
 * may have any value; a patch is at most as long as the array in each dimension. */
RG_API int rg_array_put_periodic(rg_array a, const int64_t lo[], const int64_t hi[],
                                 const void *buf, const int64_t ld[]);
RG_API int rg_array_get_periodic(rg_array a, const int64_t lo[], const int64_t hi[], void *buf,
                                 const int64_t ld[]);
RG_API int rg_array_acc_periodic(rg_array a, const int64_t lo[], const int64_t hi[],
                                 const void *buf, const int64_t ld[], const void *alpha);

/* The same for a part of each element: `size` bytes from byte `offset` on, one member of a struct,
 * for instance. The buffer holds these parts one after another; ld counts them. Any type. Errors:
 * RG_ERR_ARG (no such part). */
RG_API int rg_array_put_field(rg_array a, const int64_t lo[], const int64_t hi[], size_t offset,
                              size_t size, const void *buf, const int64_t ld[]);
RG_API int rg_array_get_field(rg_array a, const int64_t lo[], const int64_t hi[], size_t offset,
                              size_t size, void *buf, const int64_t ld[]);

/* --- one-sided: elements ------------------------------------------------------------ */

/* gather gets, scatter puts, and scatter_acc adds n elements by their subscripts
 * at[i * dims + d]. If an element occurs twice, scatter leaves one of the two values, and
 * scatter_acc adds both. Caller: any member. Cost between nodes: one message (vector) for
 * each owner. */
RG_API int rg_array_gather(rg_array a, int64_t n, const int64_t at[], void *values);
RG_API int rg_array_scatter(rg_array a, int64_t n, const int64_t at[], const void *values);
RG_API int rg_array_scatter_acc(rg_array a, int64_t n, const int64_t at[], const void *values,
                                const void *alpha);

/* Adds to an integer element and returns its previous value in *before, in one step.
 * Caller: any member. Calls are atomic with respect to one another, to accumulates and to
 * compare-and-swap. RG_TYPE_INT32: the increment and the sum are taken modulo 2^32, and so is
 * `value` below. Errors: RG_ERR_ARG (not RG_TYPE_INT32 or RG_TYPE_INT64). */
RG_API int rg_array_read_inc(rg_array a, const int64_t at[], int64_t increment, int64_t *before);

/* Sets an integer element to `value` if it equals `compare`; *before is its previous
 * value. Caller and errors: as for rg_array_read_inc. */
RG_API int rg_array_compare_and_swap(rg_array a, const int64_t at[], int64_t compare, int64_t value,
                                     int64_t *before);

/* --- completion --------------------------------------------------------------------- */

/* Waits until all puts and accumulates of this process on a (NULL: on all arrays) are
 * complete at their targets. Local; between nodes it costs a message each way to each
 * target. */
RG_API int rg_array_fence(rg_array a);

/* A fence by every member and a barrier: afterwards all members see all changes. Callers:
 * every member of the array's group. The first call for an array also detects members that
 * have made another array or none. For an array with RG_ARRAY_MIRRORED that spans nodes
 * the call saves the elements as they are then. Cost: a fence and a barrier; for a mirrored
 * array two barriers, a copy of the caller's elements in its memory, and one to another
 * node. Errors: RG_ERR_MISMATCH, or the error that a member detected when it made the
 * array; RG_ERR_TIMEOUT (a member has not called). */
RG_API int rg_array_sync(rg_array a);

/* Lets accesses of other processes to this process's memory make progress; returns at
 * once. If an array spans nodes, a process that computes for a long time without a call of
 * the library calls this from time to time. Any thread. Local. */
RG_API int rg_progress(void);

/* --- direct access ------------------------------------------------------------------ */

typedef enum { RG_ACCESS_READ, RG_ACCESS_WRITE, RG_ACCESS_READ_WRITE } rg_access_mode;

/* Direct access to a patch that is inside one block of one member on the caller's node (its
 * own block, or another member's). ptr is the address of a pointer, which is set to the first
 * element; ld[0..dims-2] are the extents in memory (NULL: not wanted). Between this call and
 * rg_array_release the caller uses the patch as `intent` says, by ordinary loads and stores.
 * The program orders its accesses with those of other processes (rg_array_sync). Local. Errors:
 * RG_ERR_ARG (the patch is empty or crosses blocks); RG_ERR_RANK (its owner is on another node;
 * the message says which). */
RG_API int rg_array_access(rg_array a, const int64_t lo[], const int64_t hi[],
                           rg_access_mode intent, void *ptr, int64_t ld[]);
RG_API int rg_array_release(rg_array a, const int64_t lo[], const int64_t hi[]);

/* The same for the caller's own block with its surrounding ghost cells; *ptr is the first
 * ghost cell (lo - ghosts). Local. Errors: RG_ERR_ARG (the caller owns no element). */
RG_API int rg_array_access_ghosts(rg_array a, rg_access_mode intent, void *ptr, int64_t ld[]);
RG_API int rg_array_release_ghosts(rg_array a);

/* --- mutexes -------------------------------------------------------------------------- */

typedef struct rg_mutexes_s *rg_mutexes;

/* Makes n mutexes on g, numbered from 0. Callers: every member of g, in the same order as
 * its array creations. Cost: as for an array; between nodes also a barrier. Errors:
 * RG_ERR_ARG (n < 1); RG_ERR_NOMEM; RG_ERR_MISMATCH. Inside a node, members that called
 * before the first member with an error do not get the error. */
RG_API int rg_mutexes_create(rg_group g, int64_t n, rg_mutexes *m);

/* Frees the mutexes and sets the handle to NULL. *m may be NULL. Callers: every member,
 * each when it no longer uses them; no member waits for another. Errors: RG_ERR_ARRAY;
 * RG_ERR_ARG (a thread of this process has locked one of them; nothing has changed). */
RG_API int rg_mutexes_free(rg_mutexes *m);

/* Locks and unlocks mutex i. Caller: any thread of any member; the thread that has locked a
 * mutex owns it. lock waits (politely); try does not wait: *locked is 1 if the caller has
 * locked the mutex, else 0. Mutexes are not recursive. unlock is also a fence of all
 * arrays. Cost where all arrays are on one node: one atomic instruction each; between nodes a
 * request and its answer for each attempt, and the fence. Errors: RG_ERR_ARRAY (NULL, or freed);
 * RG_ERR_ARG (no such mutex; lock: the caller owns it already; unlock: the caller does not own it);
 * RG_ERR_PROC_FAILED (lock, try: the owner has died with it; unlock: a process to which something
 * was put has died; the mutex is unlocked all the same); RG_ERR_TIMEOUT. */
RG_API int rg_mutexes_lock(rg_mutexes m, int64_t i);
RG_API int rg_mutexes_try(rg_mutexes m, int64_t i, int *locked);
RG_API int rg_mutexes_unlock(rg_mutexes m, int64_t i);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Distributed arrays: dense arrays of 1 to 7 dimensions whose elements are divided
 * among the members of a group, and which any member reads and changes without
 * the others' help (one-sided). The library is libregroup-arrays.
 *
 *  - Order of elements: C (the last dimension varies fastest), in arrays and in
 *    buffers.
 *  - A patch is lo[d] <= i < hi[d] in each dimension d; it is empty, which is
 *    fine, if lo[d] = hi[d] somewhere.
 *  - A buffer holds a patch as a C array buf[..][ld[0]]..[ld[dims-2]]: ld[d] is the
 *    buffer's extent in dimension d + 1, at least the patch's; ld = NULL: exactly
 *    the patch's.
 *  - Ranks are ranks in the group of the array. All members may call one-sided
 *    functions at any time, in any number; others take part only between nodes,
 *    and only where it is said (progress, below).
 *  - Order and completion. A blocking put or accumulate returns when the buffer may
 *    be changed; it is there for others after rg_array_fence by the caller, or
 *    rg_array_sync by all. A get returns with the data. Operations of one process
 *    on the same elements are done in its order. Concurrent accumulates and
 *    read-increments lose nothing, whoever issues them; a put that runs
 *    concurrently with another change of the same element leaves either.
 *  - Inside a node everything is a load or store: no message, and the target does
 *    not take part. Between nodes ARMCI-MPI carries it: one message for a
 *    contiguous or strided patch of one owner, or for up to 1024 rows of its blocks;
 *    the target's process must get into the library or MPI from time to time (any wait
 *    does; rg_progress; or RG_PROGRESS_THREAD=1). In a job that survives the nodes' guardians
 *    carry it, and need nothing of the target's process.
 *  - Threads: with MPI_THREAD_MULTIPLE one-sided calls may be made by several
 *    threads, also on the same array. Collective ones as on groups. The order of one
 *    process's operations is that of one thread's.
 *
 * Every function may return RG_ERR_NOT_INIT, RG_ERR_ARRAY (NULL, or freed) and
 * RG_ERR_ARG (an output or buffer is NULL; a patch's lower bound above its upper
 * one; a leading dimension less than the patch). A patch or element that is not
 * inside the array is RG_ERR_BOUNDS, with a text that names the dimension, the
 * index and the bound; nothing was done then. A call that waits for a process that
 * has died gives RG_ERR_PROC_FAILED; accumulates and locks too if it died while it
 * had the lock, and accesses of the elements of another node when all of its processes have died,
 * also those under way (docs/recovery.md). Only other errors are named below. */
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

#define RG_MAX_DIMS 7

/* Types of elements; complex ones are two floats or doubles, real part first. */
typedef enum {
  RG_INT32,
  RG_INT64,
  RG_FLOAT,
  RG_DOUBLE,
  RG_FLOAT_COMPLEX,
  RG_DOUBLE_COMPLEX,
  RG_OPAQUE, /* any bytes: no arithmetic */
  RG_TYPE_COUNT
} rg_type;

typedef enum {
  RG_BLOCK,       /* each member one block, of nearly equal sizes */
  RG_IRREGULAR,   /* each member one block, between given boundaries */
  RG_BLOCK_CYCLIC /* blocks of one size dealt out in turn */
} rg_layout;

/* Flags of an array. */
enum {
  /* The elements of each member are kept a second time on another node, as they are at
   * each rg_array_sync: what rg_array_recover needs when a whole node is lost. Takes
   * five times the memory, and an rg_array_sync moves all elements: docs/recovery.md. On
   * one node it changes nothing, as memory outlives its process there. */
  RG_ARRAY_MIRRORED = 1
};

/* What an array is to be like. rg_array_spec_set fills in the plain case; change
 * what shall be different. */
typedef struct {
  int dims;
  int64_t shape[RG_MAX_DIMS];
  rg_type type;
  size_t element_size; /* of RG_OPAQUE, in bytes; others: 0 or their size */
  rg_layout layout;
  /* Members along each dimension; the product is at most the group's size (the
   * other members own nothing). 0: chosen by the library. RG_IRREGULAR: given. */
  int grid[RG_MAX_DIMS];
  /* RG_BLOCK: the least extent of a block, a hint (0: none; -1: this dimension is
   * not divided). RG_BLOCK_CYCLIC: the extent of the blocks, at least 1. */
  int64_t chunk[RG_MAX_DIMS];
  /* RG_IRREGULAR: for each dimension the grid[d] first indices of the blocks: the
   * first is 0, ascending; equal ones make an empty block. Read during the call. */
  const int64_t *boundaries[RG_MAX_DIMS];
  /* So many ghost cells on either side (not with RG_BLOCK_CYCLIC), and whether
   * they wrap around at the array's edges. */
  int64_t ghosts[RG_MAX_DIMS];
  int periodic[RG_MAX_DIMS];
  unsigned flags; /* 0, or RG_ARRAY_MIRRORED */
} rg_array_spec;

/* Local. Errors: RG_ERR_ARG (1 to 7 dimensions; a negative extent; no such
 * type). */
RG_API int rg_array_spec_set(rg_array_spec *spec, rg_type type, int dims, const int64_t shape[]);

/* --- life -------------------------------------------------------------------- */

/* An array on g. Who calls: every member of g, with the same spec and in the same
 * order as its other array and mutex creations on g. Elements are undefined
 * (rg_array_zero). Cost: inside a node no message, and nobody waits for those that
 * come later; between nodes one small allgather. No window and no communicator is
 * made. g stays the caller's and may be freed before the array.
 * Errors, on every member: RG_ERR_ARG (the spec; the text says what of it);
 * RG_ERR_LIMIT (sizes overflow 63 bits); RG_ERR_NOMEM (does not fit into the node's
 * arena, or a member's share: nothing has changed); RG_ERR_MISMATCH (members differ
 * in their specs). What a member alone finds (its spec is wrong or differs), those
 * inside its node that had made the array before get from their first
 * rg_array_sync. After an error there is nothing to free. */
RG_API int rg_array_create(rg_group g, const rg_array_spec *spec, rg_array *a);

/* The same for a plain block distribution. */
RG_API int rg_array_create_simple(rg_group g, rg_type type, int dims, const int64_t shape[],
                                  rg_array *a);

/* An array like a on the same group; the elements are not copied (rg_array_copy).
 * Every member of a's group. */
RG_API int rg_array_duplicate(rg_array a, rg_array *copy);

/* Gives the array up and sets the handle to NULL (NULL is fine). Every member
 * calls, each when it has finished with it: nobody waits, the memory goes with
 * the last member (between nodes soon after it). Operations under way are completed
 * first. */
RG_API int rg_array_free(rg_array *a);

/* --- asking (local; no message) ------------------------------------------------- */

/* The group of the array: the array's own, do not free it. */
RG_API int rg_array_group(rg_array a, rg_group *g);

/* The spec with everything filled in (grid, element size); boundaries are those of
 * all layouts with one block for each member and belong to the array. */
RG_API int rg_array_info(rg_array a, rg_array_spec *spec);

/* *valid is 1 if the handle is a living array whose parts agree, else 0 (NULL too). */
RG_API int rg_array_is_valid(rg_array a, int *valid);

/* The rank that owns an element. */
RG_API int rg_array_owner(rg_array a, const int64_t at[], int *rank);

/* How many blocks a member owns (RG_BLOCK, RG_IRREGULAR: 1, also if it is empty, or
 * 0), and which patch its i-th one is. Errors: RG_ERR_RANK; RG_ERR_ARG (no such
 * block). */
RG_API int rg_array_block_count(rg_array a, int rank, int64_t *count);
RG_API int rg_array_block(rg_array a, int rank, int64_t i, int64_t lo[], int64_t hi[]);

/* The first block of a member, what most programs ask; an empty patch if it owns
 * none. */
RG_API int rg_array_distribution(rg_array a, int rank, int64_t lo[], int64_t hi[]);

/* Cuts a patch by owners: piece i, counted from 0, is lo_i..hi_i and belongs to
 * rank. *there is 0 if there are not so many pieces. Any number may be asked for
 * in any order; ascending order is O(1) each. */
typedef struct {
  int rank;
  int64_t lo[RG_MAX_DIMS], hi[RG_MAX_DIMS];
} rg_piece;
RG_API int rg_array_locate_count(rg_array a, const int64_t lo[], const int64_t hi[],
                                 int64_t *count);
RG_API int rg_array_locate(rg_array a, const int64_t lo[], const int64_t hi[], int64_t i,
                           rg_piece *piece);

/* --- one-sided: patches ----------------------------------------------------------- */

/* Buffer to array, array to buffer, and array += *alpha * buffer; alpha points to
 * one element (NULL: 1). Any member. Errors of acc: RG_ERR_ARG (RG_OPAQUE). */
RG_API int rg_array_put(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                        const int64_t ld[]);
RG_API int rg_array_get(rg_array a, const int64_t lo[], const int64_t hi[], void *buf,
                        const int64_t ld[]);
RG_API int rg_array_acc(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                        const int64_t ld[], const void *alpha);

/* The same without waiting: rg_wait, rg_test, rg_wait_all. buf and *alpha stay
 * untouched until then. Inside a node they are done when they return. Between nodes
 * they wait for earlier ones if more are under way to one target than MPI bears. */
RG_API int rg_array_iput(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                         const int64_t ld[], rg_request *request);
RG_API int rg_array_iget(rg_array a, const int64_t lo[], const int64_t hi[], void *buf,
                         const int64_t ld[], rg_request *request);
RG_API int rg_array_iacc(rg_array a, const int64_t lo[], const int64_t hi[], const void *buf,
                         const int64_t ld[], const void *alpha, rg_request *request);

/* Every step[d]-th element of a patch, from lo[d] on; the buffer holds just these:
 * (hi - lo + step - 1) / step in each dimension. */
RG_API int rg_array_put_strided(rg_array a, const int64_t lo[], const int64_t hi[],
                                const int64_t step[], const void *buf, const int64_t ld[]);
RG_API int rg_array_get_strided(rg_array a, const int64_t lo[], const int64_t hi[],
                                const int64_t step[], void *buf, const int64_t ld[]);
RG_API int rg_array_acc_strided(rg_array a, const int64_t lo[], const int64_t hi[],
                                const int64_t step[], const void *buf, const int64_t ld[],
                                const void *alpha);

/* Patches that reach over the edges and wrap around in every dimension: any lo,
 * and at most the array's extent long. */
RG_API int rg_array_put_periodic(rg_array a, const int64_t lo[], const int64_t hi[],
                                 const void *buf, const int64_t ld[]);
RG_API int rg_array_get_periodic(rg_array a, const int64_t lo[], const int64_t hi[], void *buf,
                                 const int64_t ld[]);
RG_API int rg_array_acc_periodic(rg_array a, const int64_t lo[], const int64_t hi[],
                                 const void *buf, const int64_t ld[], const void *alpha);

/* --- one-sided: elements ------------------------------------------------------------ */

/* n elements by their subscripts: at[i * dims + d]. Elements that are named twice:
 * scatter leaves either, scatter_acc adds both. Cost between nodes: one message
 * (vector) for each owner. */
RG_API int rg_array_gather(rg_array a, int64_t n, const int64_t at[], void *values);
RG_API int rg_array_scatter(rg_array a, int64_t n, const int64_t at[], const void *values);
RG_API int rg_array_scatter_acc(rg_array a, int64_t n, const int64_t at[], const void *values,
                                const void *alpha);

/* Adds to an integer element and tells what was there before, in one step. Atomic
 * with one another, with accumulates and with compare-and-swap. RG_INT32: the increment
 * is taken modulo 2^32, as the sum is; likewise `value` below.
 * Errors: RG_ERR_ARG (not RG_INT32 or RG_INT64). */
RG_API int rg_array_read_inc(rg_array a, const int64_t at[], int64_t increment, int64_t *before);

/* Sets an integer element to value if it is `compare`; *before is what was there. */
RG_API int rg_array_compare_and_swap(rg_array a, const int64_t at[], int64_t compare, int64_t value,
                                     int64_t *before);

/* --- completion --------------------------------------------------------------------- */

/* Waits until all that this process has put and accumulated on a (of all its
 * arrays: NULL) is where it belongs. Local; between nodes a message each way to
 * the targets. */
RG_API int rg_array_fence(rg_array a);

/* A fence by every member and a barrier: afterwards all see all. Every member of
 * the array's group. The first one also finds members that have made another array
 * or none. Errors: RG_ERR_MISMATCH, or what a member found when it made the array;
 * RG_ERR_TIMEOUT (somebody has not come). Of an array with RG_ARRAY_MIRRORED that spans
 * nodes it keeps the elements as they are then: two barriers, a copy of the caller's
 * elements in its memory and one to another node. */
RG_API int rg_array_sync(rg_array a);

/* Lets others' accesses to this process's memory make progress; returns at once. A
 * process that computes long without a call of the library calls this from time to
 * time if its array spans nodes. Any thread. Local. */
RG_API int rg_progress(void);

/* --- direct access ------------------------------------------------------------------ */

typedef enum { RG_READ, RG_WRITE, RG_READ_WRITE } rg_intent;

/* Where a patch lies that is inside one block of one member of the caller's node
 * (its own block, or a neighbour's). ptr is the address of a pointer, which is set to
 * its first element; ld[0..dims-2] are the extents in memory (NULL: not wanted). Between this and
 * rg_array_release the patch is used as the intent says, by ordinary loads and stores; ordering
 * with other processes' accesses is the program's (rg_array_sync). Local. Errors: RG_ERR_ARG (the
 * patch is empty or crosses blocks); RG_ERR_RANK (its owner is on another node; the text says
 * which). */
RG_API int rg_array_access(rg_array a, const int64_t lo[], const int64_t hi[], rg_intent intent,
                           void *ptr, int64_t ld[]);
RG_API int rg_array_release(rg_array a, const int64_t lo[], const int64_t hi[]);

/* The same for the caller's own block with its ghost cells around it; *ptr is the
 * first ghost (lo - ghosts). Errors: RG_ERR_ARG (it owns no element). */
RG_API int rg_array_access_ghosts(rg_array a, rg_intent intent, void *ptr, int64_t ld[]);
RG_API int rg_array_release_ghosts(rg_array a);

/* --- mutexes -------------------------------------------------------------------------- */

typedef struct rg_mutexes_s *rg_mutexes;

/* n mutexes on g, numbered from 0. Every member, in order as for arrays. Cost: as for
 * an array; between nodes a barrier too. Errors: RG_ERR_ARG (n < 1); RG_ERR_NOMEM;
 * RG_ERR_MISMATCH; inside a node those that came before the first wrong one are not told. */
RG_API int rg_mutexes_create(rg_group g, int64_t n, rg_mutexes *m);

/* Gives them up and sets the handle to NULL (NULL is fine). Every member, each when
 * it has finished with them; nobody waits. Errors: RG_ERR_ARRAY. */
RG_API int rg_mutexes_free(rg_mutexes *m);

/* Any member, any thread; a mutex belongs to the thread that has locked it. lock waits
 * politely; try does not: *locked is 1 if the caller has it now, else 0. Not
 * recursive. Unlocking is a fence of all arrays too. Cost inside a node: one
 * processor atomic each; between nodes a request and its answer for each look.
 * Errors: RG_ERR_ARRAY (NULL, or freed); RG_ERR_ARG (no such mutex; lock: the caller
 * has it; unlock: it has it not); RG_ERR_TIMEOUT. */
RG_API int rg_mutexes_lock(rg_mutexes m, int64_t i);
RG_API int rg_mutexes_try(rg_mutexes m, int64_t i, int *locked);
RG_API int rg_mutexes_unlock(rg_mutexes m, int64_t i);

#ifdef __cplusplus
}
#endif
#endif

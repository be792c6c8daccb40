/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whole arrays and patches: filling, copying, arithmetic, reductions, linear
 * algebra.
 *
 * Who calls: every member of the array's group (of every array's group, where
 * they differ: see the function), with the same arguments. Each member works on
 * the blocks that it owns, where they lie; results that are numbers come to all
 * members, with the same bits. All of these begin and end with the effect of
 * rg_array_sync on the arrays they use.
 *
 *  - "Whole" functions take arrays of any distribution; where several arrays take
 *    part they have the same shape and type, but may be divided differently.
 *  - Patches are lo <= i < hi as in array.h; NULL for both means all.
 *  - Where several patches take part they have the same extents; dimensions in which
 *    a patch is 1 long do not count, so that a row of a matrix and a vector fit.
 *  - Where several arrays take part they live on the same processes, in whatever
 *    order; rg_array_copy, rg_array_copy_patch and rg_array_transpose: see there.
 *  - Scalars are passed by pointer to one element of the array's type.
 *  - Integers wrap around. Sums of integers are int64_t, modulo 2^64, also of
 *    RG_INT32.
 *  - Sums of floats are accurate to rounding, and may differ in the last bits
 *    between groups of different sizes; the _reproducible forms do not. RG_FLOAT is
 *    added up in doubles.
 *
 * Cost: inside a node no message and no copy; between nodes, what of other members'
 * patches belongs to the caller's own is got from there (up to 1 MiB at a time). A
 * barrier before, and a barrier or, for numbers, an allreduce of a few bytes after.
 *
 * Errors, the same on every member and before anything is done: RG_ERR_ARRAY,
 * RG_ERR_ARG (types or shapes do not fit, arithmetic on RG_OPAQUE, order on
 * complex numbers; a patch that is written and partly overlaps another one of the
 * same array), RG_ERR_BOUNDS, RG_ERR_GROUP (groups do not fit). Later ones, which
 * all members agree on: RG_ERR_NOMEM and RG_ERR_MPI. */
#ifndef REGROUP_ARRAY_MATH_H
#define REGROUP_ARRAY_MATH_H

#include <stdio.h>

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- filling and copying ----------------------------------------------------- */

/* All elements of the patch. rg_array_zero sets all of the array to zero bytes,
 * ghosts too. */
RG_API int rg_array_fill(rg_array a, const int64_t lo[], const int64_t hi[], const void *value);
RG_API int rg_array_zero(rg_array a);

/* Random numbers, a function of seed and the element's number in C order only: the
 * same for every group and distribution. Real types: uniform in [0, 1); complex:
 * both parts; integers: all values. (Philox 4x32-10; Salmon et al., SC 2011.) */
RG_API int rg_array_random(rg_array a, uint64_t seed);

/* b = a. The arrays may live on different groups: then every member of both calls,
 * one group holds the other's members, and a caller that is in one of them only
 * gives NULL for the other's array. Types are the same, any, and shapes; patches
 * hold equally many elements and are taken in C order, or with transposed != 0
 * (2 dimensions) as the transpose. Cost: each element moves once, from its owner to
 * its owner. */
RG_API int rg_array_copy(rg_array a, rg_array b);
RG_API int rg_array_copy_patch(rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                               const int64_t blo[], const int64_t bhi[], int transposed);

/* --- arithmetic ---------------------------------------------------------------- */

/* a *= factor; a += value. All of the patch. */
RG_API int rg_array_scale(rg_array a, const int64_t lo[], const int64_t hi[], const void *factor);
RG_API int rg_array_add_scalar(rg_array a, const int64_t lo[], const int64_t hi[],
                               const void *value);

/* c = alpha a + beta b; c may be a or b, with the same patch. */
RG_API int rg_array_add(const void *alpha, rg_array a, const void *beta, rg_array b, rg_array c);
RG_API int rg_array_add_patch(const void *alpha, rg_array a, const int64_t alo[],
                              const int64_t ahi[], const void *beta, rg_array b,
                              const int64_t blo[], const int64_t bhi[], rg_array c,
                              const int64_t clo[], const int64_t chi[]);

/* c = a op b, element by element; c may be a or b. A NaN is never the minimum or
 * maximum unless both are. Errors: RG_ERR_ARG, on every member but after the work,
 * if an integer was divided by 0; these elements of c are 0. */
typedef enum { RG_MULTIPLY, RG_DIVIDE, RG_MINIMUM, RG_MAXIMUM } rg_elementwise;
RG_API int rg_array_combine(rg_elementwise op, rg_array a, rg_array b, rg_array c);

/* Calls f for runs of n elements along the last dimension, once for each element of
 * the patch in all, on the member that owns it: `at` is the first one's index, and
 * the i-th one's is greater by i in the last dimension. f changes them in place and
 * calls nothing collective. Its return value, if not 0, ends the caller's part: the
 * call returns RG_ERR_ARG on every member (some elements are changed then). */
typedef int rg_array_function(void *elements, int64_t n, const int64_t at[], void *context);
RG_API int rg_array_map(rg_array a, const int64_t lo[], const int64_t hi[], rg_array_function *f,
                        void *context);

/* --- reductions ------------------------------------------------------------------ */

/* The sum, an int64_t for integers, else an element; the least or greatest element
 * (integers and reals) with its index, the first one in C order if there are
 * several; an empty patch has the sum 0 and no least element (RG_ERR_ARG). at may be
 * NULL. A NaN is never the least or the greatest unless there is nothing else; both
 * zeros are equal. */
RG_API int rg_array_sum(rg_array a, const int64_t lo[], const int64_t hi[], void *sum);
RG_API int rg_array_min(rg_array a, const int64_t lo[], const int64_t hi[], void *least,
                        int64_t at[]);
RG_API int rg_array_max(rg_array a, const int64_t lo[], const int64_t hi[], void *greatest,
                        int64_t at[]);

/* The sum of absolute values, the root of the sum of squares, the greatest absolute
 * value, of all elements; a NaN if one of them is. The second does not overflow or
 * vanish because squares do. */
typedef enum { RG_NORM_1, RG_NORM_2, RG_NORM_INFINITY } rg_norm;
RG_API int rg_array_norm(rg_array a, rg_norm norm, double *result);

/* The sum of products a b (not conjugated): an int64_t for integers, else an
 * element. */
RG_API int rg_array_dot(rg_array a, rg_array b, void *dot);
RG_API int rg_array_dot_patch(rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                              const int64_t blo[], const int64_t bhi[], void *dot);

/* The same bits for any group, distribution and number of members: the exact sum,
 * rounded once to a double (of the products or squares, each rounded to a double
 * before). RG_FLOAT, RG_DOUBLE. Cost: an allreduce of 568 bytes; some 5 ns for each
 * element. */
RG_API int rg_array_sum_reproducible(rg_array a, double *sum);
RG_API int rg_array_dot_reproducible(rg_array a, rg_array b, double *dot);
RG_API int rg_array_norm_reproducible(rg_array a, rg_norm norm, double *result);

/* A number that depends on shape, type and the elements' bytes alone, not on the
 * distribution or the group (so 0.0 and -0.0 differ). Any type. */
RG_API int rg_array_checksum(rg_array a, uint64_t *checksum);

/* --- linear algebra (2 dimensions, real and complex types) ---------------------------- */

/* b = transpose of a, of any type, also on another group as rg_array_copy has it. */
RG_API int rg_array_transpose(rg_array a, rg_array b);

typedef enum {
  RG_NORMAL,
  RG_TRANSPOSED,
  RG_CONJUGATED /* transposed, and all elements conjugated */
} rg_form;

/* c = alpha op(a) op(b) + beta c; the patches (NULL: all) have fitting extents. c is
 * neither a nor b. Where beta is 0, what c held does not matter, be it NaNs.
 * CBLAS does the work, on the blocks where they lie inside a node, on panels that are
 * got while it is busy between nodes or where blocks are too small; meanwhile it uses
 * at most the caller's share of the node's processors as threads, then as many as the
 * application had set. */
RG_API int rg_array_multiply(rg_form form_a, rg_form form_b, const void *alpha, rg_array a,
                             rg_array b, const void *beta, rg_array c);
RG_API int rg_array_multiply_patch(rg_form form_a, rg_form form_b, const void *alpha, rg_array a,
                                   const int64_t alo[], const int64_t ahi[], rg_array b,
                                   const int64_t blo[], const int64_t bhi[], const void *beta,
                                   rg_array c, const int64_t clo[], const int64_t chi[]);

/* y = alpha op(a) x + beta y; x and y have 1 dimension. Between nodes only parts of x
 * and y move, and the order of additions is not fixed. Errors: RG_ERR_LIMIT (more
 * than 2^31 - 1 columns). */
RG_API int rg_array_multiply_vector(rg_form form_a, const void *alpha, rg_array a, rg_array x,
                                    const void *beta, rg_array y);

/* --- the rest ---------------------------------------------------------------------------- */

/* Brings every member's ghost cells up to date from their owners, corners too. At
 * edges that are not periodic they are left as they are. Cost: only the halo moves,
 * all parts of it at once. */
RG_API int rg_array_update_ghosts(rg_array a);

/* Writes the patch to a file (stdout, say) on rank 0, 2-dimensional slices one after
 * another, 5 digits of each number, RG_OPAQUE as hexadecimal bytes. Gathers it row by
 * row. file matters on rank 0 only. Errors, on every member: RG_ERR_FILE. */
RG_API int rg_array_print(rg_array a, const int64_t lo[], const int64_t hi[], FILE *file);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whole arrays and patches: filling, copying, arithmetic, reductions, linear
 * algebra.
 *
 * Callers: every member of the array's group (of every array's group, where they
 * differ: see the function), with the same arguments. Each member processes the blocks
 * that it owns, in place. All members get the results that are numbers, with the same
 * bits. Each of these functions begins and ends with the effect of rg_array_sync on the
 * arrays that it uses.
 *
 *  - Functions on whole arrays accept arrays of any distribution. If a function has
 *    several arrays they have the same shape and type, but may be divided differently.
 *  - Patches are lo <= i < hi as in array.h. NULL for both means the whole array.
 *  - If a function has several patches they have the same extents. Dimensions in which
 *    a patch has extent 1 do not count, so a row of a matrix and a vector match.
 *  - If a function has several arrays they are on the same processes, in any order.
 *    Exceptions: rg_array_copy, rg_array_copy_patch and rg_array_transpose.
 *  - Scalars are passed by pointer to one element of the array's type.
 *  - Integers wrap around. Sums of integers are int64_t, modulo 2^64, also of
 *    RG_TYPE_INT32.
 *  - Sums of floats are accurate to rounding, and may differ in the last bits
 *    between groups of different sizes; those of the _reproducible forms do not.
 *    RG_TYPE_FLOAT is added up in doubles.
 *
 * Cost: inside a node no message and no copy. Between nodes each member gets the parts
 * of other members' patches that it combines with its own blocks (up to 1 MiB at a
 * time). There is a barrier before, and after it a barrier or, for numbers, an allreduce
 * of a few bytes.
 *
 * Errors, the same on every member and before anything is done: RG_ERR_ARRAY,
 * RG_ERR_ARG (types or shapes do not match, arithmetic on RG_TYPE_OPAQUE, order on
 * complex numbers; a patch that is written partly overlaps another one of the same
 * array), RG_ERR_BOUNDS, RG_ERR_GROUP (groups do not match). Later errors, on which all
 * members agree: RG_ERR_NOMEM and RG_ERR_MPI. */
#ifndef REGROUP_ARRAY_MATH_H
#define REGROUP_ARRAY_MATH_H

#include <stdio.h>

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A patch as an argument of functions that take several of them. lo and hi NULL: the whole array.
 */
typedef struct {
  rg_array array;
  const int64_t *lo, *hi;
} rg_array_patch;

/* --- filling and copying ----------------------------------------------------- */

/* rg_array_fill sets all elements of the patch to *value. rg_array_zero sets the whole
 * array to zero bytes, including its ghosts. */
RG_API int rg_array_fill(rg_array a, const int64_t lo[], const int64_t hi[], const void *value);
RG_API int rg_array_zero(rg_array a);

/* Fills the array with random numbers. They are a function of the seed and the element's
 * number in C order only, hence the same for every group and distribution. Real types:
 * uniform in [0, 1); complex types: both parts; integers: all values. (Philox 4x32-10;
 * Salmon et al., SC 2011.) */
RG_API int rg_array_random(rg_array a, uint64_t seed);

/* b = a. The arrays may be on different groups. Then every member of both groups calls, one
 * group contains the members of the other, and a caller that is in only one of them passes
 * NULL for the array of the other. Both arrays have the same type, which may be any, and
 * for rg_array_copy the same shape. Patches have the same number of elements and are copied
 * in C order, or with transposed != 0 (2 dimensions or more) with the dimensions in reverse
 * order. Cost: each element moves once, from its owner in a to its owner in b. */
RG_API int rg_array_copy(rg_array a, rg_array b);
RG_API int rg_array_copy_patch(rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                               const int64_t blo[], const int64_t bhi[], int transposed);

/* --- arithmetic ---------------------------------------------------------------- */

/* a *= factor; a += value, for all elements of the patch. */
RG_API int rg_array_scale(rg_array a, const int64_t lo[], const int64_t hi[], const void *factor);
RG_API int rg_array_add_scalar(rg_array a, const int64_t lo[], const int64_t hi[],
                               const void *value);

/* Multiplies each element whose index in the dimension is i by element i of v: with dimension 0 the
 * rows of a matrix, with 1 its columns. v has one dimension, of the array's extent in that
 * dimension, and a's type. Each member gets all of v. */
RG_API int rg_array_scale_along(rg_array a, int dimension, rg_array v);

/* Sets the elements of a patch to start, start + step, ... in C order. */
RG_API int rg_array_enumerate(rg_array a, const int64_t lo[], const int64_t hi[], const void *start,
                              const void *step);

/* c = alpha a + beta b; c may be a or b, with the same patch. */
RG_API int rg_array_add(const void *alpha, rg_array a, const void *beta, rg_array b, rg_array c);
RG_API int rg_array_add_patch(const void *alpha, rg_array a, const int64_t alo[],
                              const int64_t ahi[], const void *beta, rg_array b,
                              const int64_t blo[], const int64_t bhi[], rg_array c,
                              const int64_t clo[], const int64_t chi[]);

/* patch[0] = an operation on the elements of the others, element by element; patch[0] may be the
 * same patch as another one. rg_array_combine: the same for three whole arrays, c = a op b. n is
 * the number of patches that the operation has. Of a NaN and a number the minimum and the maximum
 * are the number. Errors: RG_ERR_ARG, on every member but after the work, if an integer was divided
 * by 0; these elements are 0. */
typedef enum {
  RG_COMBINE_MULTIPLY, /* n = 3, as the next three */
  RG_COMBINE_DIVIDE,
  RG_COMBINE_MINIMUM,
  RG_COMBINE_MAXIMUM,
  RG_COMBINE_ABSOLUTE,   /* n = 2: the absolute value, also of complex numbers */
  RG_COMBINE_RECIPROCAL, /* n = 2: 1 divided by the element */
  RG_COMBINE_MEDIAN      /* n = 4: of three elements the one between the other two */
} rg_combine_operation;
RG_API int rg_array_combine(rg_combine_operation op, rg_array a, rg_array b, rg_array c);
RG_API int rg_array_combine_patches(rg_combine_operation op, int n, const rg_array_patch patch[]);

/* Calls f for runs of n elements along the last dimension, such that each element of the
 * patch is in one run, on the member that owns it. `at` is the index of the first element;
 * that of the i-th one is greater by i in the last dimension. f changes the elements in
 * place and makes no collective call. If f returns a value other than RG_SUCCESS the caller's
 * part ends, and the call returns this value on every member, with the text that f has set: of
 * several those of the lowest rank (error.h; some elements are changed then). */
typedef int rg_array_function(void *elements, int64_t n, const int64_t at[], void *context);
RG_API int rg_array_map(rg_array a, const int64_t lo[], const int64_t hi[], rg_array_function *f,
                        void *context);

/* The same for 1 to 4 patches: f gets the addresses of n elements of each, at[k] those of patch[k],
 * contiguous and in corresponding places, and changes those of patch[0]. They are at at[0] where
 * they belong, those of the other patches perhaps copies. */
typedef int rg_array_patches_function(int64_t n, void *const at[], void *context);
RG_API int rg_array_map_patches(int n, const rg_array_patch patch[], rg_array_patches_function *f,
                                void *context);

/* --- scans of vectors (1 dimension) --------------------------------------------------- */

/* The elements from lo to hi - 1 form segments: one begins at lo, and one wherever `mask`, an array
 * of integers, is not 0. RG_SCAN_ADD: each element of b becomes the sum of a's from the start of
 * its segment up to itself; RG_SCAN_ADD_EXCLUSIVE: up to the one before, and 0 at the start;
 * RG_SCAN_COPY: the first element of a's segment, and elements before the first one of the mask do
 * not change. b may be a. Cost: each member gets an even part of the range, and puts it, and
 * there is an allgather of 32 bytes. */
typedef enum { RG_SCAN_ADD, RG_SCAN_ADD_EXCLUSIVE, RG_SCAN_COPY } rg_scan_kind;
RG_API int rg_array_scan(rg_scan_kind kind, rg_array a, rg_array mask, rg_array b, int64_t lo,
                         int64_t hi);

/* pack copies those elements of a for which `mask` is not 0, of the range lo to hi - 1, to the
 * first elements of b; unpack copies the first elements of a to these places of b. *n is their
 * number. Cost: as rg_array_scan. Errors: RG_ERR_BOUNDS also where the other array has fewer
 * elements. */
RG_API int rg_array_pack(rg_array a, rg_array mask, rg_array b, int64_t lo, int64_t hi, int64_t *n);
RG_API int rg_array_unpack(rg_array a, rg_array mask, rg_array b, int64_t lo, int64_t hi,
                           int64_t *n);

/* --- reductions ------------------------------------------------------------------ */

/* rg_array_sum returns the sum: an int64_t for integers, otherwise an element.
 * rg_array_min and rg_array_max return the least or greatest element (integers and reals)
 * with its index, the first one in C order if there are several; at may be NULL. An empty
 * patch has the sum 0 and no least or greatest element (RG_ERR_ARG). A NaN is the least or
 * greatest element only if all elements are NaNs; both zeros are equal. */
RG_API int rg_array_sum(rg_array a, const int64_t lo[], const int64_t hi[], void *sum);
RG_API int rg_array_min(rg_array a, const int64_t lo[], const int64_t hi[], void *least,
                        int64_t at[]);
RG_API int rg_array_max(rg_array a, const int64_t lo[], const int64_t hi[], void *greatest,
                        int64_t at[]);

/* The same of the absolute value of the elements, complex ones too: element is the element itself.
 */
RG_API int rg_array_absmin(rg_array a, const int64_t lo[], const int64_t hi[], void *element,
                           int64_t at[]);
RG_API int rg_array_absmax(rg_array a, const int64_t lo[], const int64_t hi[], void *element,
                           int64_t at[]);

/* How far one may go from x in the direction v until bounds are met. patch: x, v, and with n = 4
 * the lower and the upper bounds of x; with n = 2 these are 0 and infinity. Integers and reals.
 * Each element has a step t, at which x + t v is at its bound: (upper - x) / v if v > 0, (lower -
 * x) / v if v < 0; with v = 0 it is 0 if x is at a bound, else infinity. step[0] is the least t of
 * all elements, step[1] the least of those with v != 0 (infinity if there are none), step[2] the
 * greatest of all. */
RG_API int rg_array_step_bounds(int n, const rg_array_patch patch[], double step[3]);

/* The sum of absolute values (RG_NORM_1), the root of the sum of squares (RG_NORM_2), or
 * the greatest absolute value (RG_NORM_INFINITY) of all elements; a NaN if one element is a
 * NaN. RG_NORM_2 does not overflow or underflow if only the squares do. */
typedef enum { RG_NORM_1, RG_NORM_2, RG_NORM_INFINITY } rg_norm_kind;
RG_API int rg_array_norm(rg_array a, rg_norm_kind norm, double *result);
RG_API int rg_array_norm_patch(rg_array a, const int64_t lo[], const int64_t hi[],
                               rg_norm_kind norm, double *result);

/* The sum of products a b (not conjugated): an int64_t for integers, otherwise an
 * element. */
RG_API int rg_array_dot(rg_array a, rg_array b, void *dot);
RG_API int rg_array_dot_patch(rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                              const int64_t blo[], const int64_t bhi[], void *dot);

/* The same functions with the same bits for any group, distribution and number of members:
 * the exact sum, rounded once to a double (of the products or squares, each rounded to a
 * double before). RG_TYPE_FLOAT and RG_TYPE_DOUBLE only. Cost: an allreduce of 568 bytes, and
 * about 5 ns for each element. */
RG_API int rg_array_sum_reproducible(rg_array a, double *sum);
RG_API int rg_array_dot_reproducible(rg_array a, rg_array b, double *dot);
RG_API int rg_array_norm_reproducible(rg_array a, rg_norm_kind norm, double *result);

/* A number that depends only on the shape, the type and the bytes of the elements, not on
 * the distribution or the group (so 0.0 and -0.0 differ). Any type. */
RG_API int rg_array_checksum(rg_array a, uint64_t *checksum);

/* --- linear algebra (2 dimensions, real and complex types) ---------------------------- */

/* b = transpose of a, of any type. The arrays may be on different groups, as for
 * rg_array_copy. */
RG_API int rg_array_transpose(rg_array a, rg_array b);

/* The diagonal of a matrix against v, which has one dimension, of the diagonal's length, and a's
 * type: v = diagonal, diagonal = v or diagonal += v. v NULL: *value stands for each element of v
 * (not RG_DIAGONAL_GET). */
typedef enum { RG_DIAGONAL_GET, RG_DIAGONAL_SET, RG_DIAGONAL_ADD } rg_diagonal_operation;
RG_API int rg_array_diagonal(rg_diagonal_operation op, rg_array a, rg_array v, const void *value);

/* The sum of the diagonal, as rg_array_sum returns it. */
RG_API int rg_array_trace(rg_array a, void *trace);

/* a = (a + transpose of a) / 2, in place, without conjugation. Each element below the diagonal and
 * its mirrored one are set by the owner of the former. */
RG_API int rg_array_symmetrize(rg_array a);

typedef enum {
  RG_FORM_NORMAL,
  RG_FORM_TRANSPOSED,
  RG_FORM_CONJUGATED /* transposed, and all elements conjugated */
} rg_array_form;

/* c = alpha op(a) op(b) + beta c; the patches (NULL: the whole array) have matching
 * extents. c is neither a nor b. If beta is 0 the previous elements of c do not matter,
 * even if they are NaNs. CBLAS computes the products: inside a node on the blocks in place;
 * between nodes, or if blocks are too small, on panels, and the next panels are got while
 * it computes. During the call CBLAS uses at most as many threads as the caller's share of
 * the node's processors; afterwards the number is what the application had set. */
RG_API int rg_array_multiply(rg_array_form form_a, rg_array_form form_b, const void *alpha,
                             rg_array a, rg_array b, const void *beta, rg_array c);
RG_API int rg_array_multiply_patch(rg_array_form form_a, rg_array_form form_b, const void *alpha,
                                   rg_array a, const int64_t alo[], const int64_t ahi[], rg_array b,
                                   const int64_t blo[], const int64_t bhi[], const void *beta,
                                   rg_array c, const int64_t clo[], const int64_t chi[]);

/* y = alpha op(a) x + beta y; x and y have 1 dimension. Between nodes only parts of x and y
 * move, and the order of additions is not fixed. Errors: RG_ERR_LIMIT (more than 2^31 - 1
 * columns). */
RG_API int rg_array_multiply_vector(rg_array_form form_a, const void *alpha, rg_array a, rg_array x,
                                    const void *beta, rg_array y);

/* --- ghosts and printing ----------------------------------------------------------------- */

/* Updates every member's ghost cells from their owners, including corners. At edges that are
 * not periodic they do not change. Cost: only the ghost cells move, all of them at once. */
RG_API int rg_array_update_ghosts(rg_array a);

/* Rank 0 writes the patch to a file (stdout, for instance): 2-dimensional slices one after
 * another, 5 digits of each number, RG_TYPE_OPAQUE as hexadecimal bytes. It gathers the patch
 * row by row. file is significant only at rank 0. Errors, on every member: RG_ERR_FILE. */
RG_API int rg_array_print(rg_array a, const int64_t lo[], const int64_t hi[], FILE *file);

/* The same for other languages: on rank 0 each line is passed to `line`, without its end, when
 * all lines are in memory. line is a callback (error.h), significant only at rank 0. */
RG_API int rg_array_print_lines(rg_array a, const int64_t lo[], const int64_t hi[],
                                int (*line)(const char *text, void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif

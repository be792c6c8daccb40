/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Combining the elements of two memories: one loop for each kind of element and operation, of which
 * collectives, windows and arrays take what they need. On most of them the processor's vector
 * instructions work. */
#ifndef RGI_KERNEL_H
#define RGI_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* C's complex numbers; PLAIN: those of Fortran and C++, whose products follow no rules for what is
 * not a number. Pairs: a number and its place, which begin a power of two apart; the bits of
 * neither do not change. */
typedef enum {
  RGI_KERNEL_NO_KIND,
  RGI_KERNEL_U8,
  RGI_KERNEL_U16,
  RGI_KERNEL_U32,
  RGI_KERNEL_U64,
  RGI_KERNEL_S8,
  RGI_KERNEL_S16,
  RGI_KERNEL_S32,
  RGI_KERNEL_S64,
  RGI_KERNEL_FLOAT,
  RGI_KERNEL_DOUBLE,
  RGI_KERNEL_FLOAT_COMPLEX,
  RGI_KERNEL_DOUBLE_COMPLEX,
  RGI_KERNEL_PLAIN_FLOAT_COMPLEX,
  RGI_KERNEL_PLAIN_DOUBLE_COMPLEX,
  RGI_KERNEL_SHORT_INT,
  RGI_KERNEL_INT_INT,
  RGI_KERNEL_FLOAT_INT,
  RGI_KERNEL_LONG_INT,
  RGI_KERNEL_DOUBLE_INT,
  RGI_KERNEL_FLOAT_FLOAT,
  RGI_KERNEL_DOUBLE_DOUBLE,
  RGI_KERNEL_KINDS
} rgi_kernel_kind;

/* Logical operations: 0 is false. */
typedef enum {
  RGI_KERNEL_NO_OP,
  RGI_KERNEL_SUM,
  RGI_KERNEL_PROD,
  RGI_KERNEL_MAX,
  RGI_KERNEL_MIN,
  RGI_KERNEL_BAND,
  RGI_KERNEL_BOR,
  RGI_KERNEL_BXOR,
  RGI_KERNEL_LAND,
  RGI_KERNEL_LOR,
  RGI_KERNEL_LXOR,
  RGI_KERNEL_MAXLOC,
  RGI_KERNEL_MINLOC,
  RGI_KERNEL_SCALED_SUM, /* inout += factor * in; for what arrays consist of */
  RGI_KERNEL_ATOMIC_SUM, /* the same, where factor may be NULL: 1, and `in` need not be aligned;
                            each element by one atomic operation; for U32, U64, FLOAT and DOUBLE */
  RGI_KERNEL_OPS
} rgi_kernel_op;

/* inout[i] = in[i] op inout[i] for so many units. The two do not overlap, and are aligned as their
 * type is. */
typedef void rgi_kernel_loop(const void *in, void *inout, size_t units);

/* So many rows of n units each, which lie side by side; the steps from row to row are in bytes. */
typedef struct {
  int64_t rows, n, in_step, inout_step;
} rgi_kernel_plane;

typedef void rgi_kernel_plane_loop(const rgi_kernel_plane *plane, const void *in, void *inout,
                                   const void *factor);

/* Sums have both loops; what takes a factor has the second one only, all others the first one. */
typedef struct {
  rgi_kernel_loop *run;
  rgi_kernel_plane_loop *run_plane;
  uint8_t units; /* of an element */
  uint8_t log;   /* a unit has 2 to the power of this bytes */
} rgi_kernel;

/* Both loops are NULL: there is none for this kind and operation. */
const rgi_kernel *rgi_kernel_of(rgi_kernel_kind kind, rgi_kernel_op op);

/* Those on elements of two numbers side by side, which rgi_kernel_of finds, too. */
const rgi_kernel *rgi_kernel_of_lanes(rgi_kernel_kind kind, rgi_kernel_op op);

/* On x86-64 a loop is there twice, and the loader takes the one with wide vectors where the
 * processor has them. The sanitizers do not know functions that the loader selects. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ &&                               \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define RGI_KERNEL_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define RGI_KERNEL_WIDE
#endif

#endif

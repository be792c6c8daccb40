/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A loop of an operation on a type. */
#ifndef RGI_OP_LOOP_H
#define RGI_OP_LOOP_H

#include <stddef.h>
#include <stdint.h> /* __GLIBC__ */

/* inout[i] = in[i] op inout[i] for so many units. The two do not overlap, and are aligned as their
 * type is. */
typedef void rgi_op_loop(const void *in, void *inout, size_t units);

/* On x86-64 the loop is there twice, and the loader takes the one with wide vectors where the
 * processor has them. The sanitizers do not know functions that the loader selects. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ &&                               \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define RGI_OP_LOOP_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define RGI_OP_LOOP_WIDE
#endif

#endif

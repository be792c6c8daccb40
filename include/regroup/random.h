/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Random numbers as a function of (seed, walker, step, draw).
 *
 * A stream is its position. It is the same on every process and for any number of processes,
 * may be copied, and needs no message: a walker draws the same numbers wherever it works. Each
 * number that a call returns takes one draw, whatever it is. Streams that differ in the seed, the
 * walker or the step have different numbers.
 *
 * The definition, which no later version changes. A program in another language, or code for a
 * device, that follows it gets the same numbers. P(c0, c1, c2, c3; k0, k1) is Philox 4x64 with
 * ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four words
 * of 64 bits. Words are numbered 0 to 3; / and mod are those of unsigned integers of 64 bits.
 *
 *  - W(kind, i) is word i mod 4 of P(i / 4, step, walker, kind; seed, 0).
 *  - Bits: number d is W(0, d).
 *  - Uniform: with w = W(0, d), number d is ((w / 2^11) + 0.5) * 2^-53 in the arithmetic of IEEE
 *    754 doubles, where the sum is rounded to nearest, halves to even. Where that is 1 (w / 2^11
 *    is 2^53 - 1), it is 1 - 2^-53. The smallest number is 2^-54.
 *  - Normal: with e = d - d mod 2, and u and v made of W(1, e) and W(1, e + 1) as uniform numbers
 *    are, number d is sqrt(-2 ln u) cos(2 pi v) if d = e, else sqrt(-2 ln u) sin(2 pi v) (Box and
 *    Muller), computed in doubles from left to right, 2 pi v as (2 * pi) * v. The logarithm,
 *    cosine and sine are those of the C library: another one may differ in the last bits.
 *  - Integer below n: let w(j) be word j mod 4 of P(d, step, walker, 2 + 256 (j / 4); seed, 0).
 *    Number d is the upper half of the product n w(j), of 128 bits, for the first j = 0, 1, 2, ...
 *    where the lower half is not less than 2^64 mod n. So each of 0 to n - 1 is equally probable.
 *
 * All calls are local, allocate nothing, and need neither rg_init nor MPI. Any number of threads
 * may call them, each with a stream of its own. They may return RG_ERR_ARG: a pointer is NULL, or n
 * is negative. Then nothing is drawn. */
#ifndef REGROUP_RANDOM_H
#define REGROUP_RANDOM_H

#include <stdint.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stream, at its next draw. The caller fills it in:
 *
 *     rg_random r = {.seed = 42, .walker = key, .step = sweep};
 *
 * It has no other members and never gets any. */
typedef struct {
  uint64_t seed, walker, step;
  uint64_t draw; /* of the next number */
} rg_random;

/* The next n numbers of 64 random bits. Cost: one evaluation of Philox (some 20 ns) for up to
 * four numbers, the first and the last ones included. */
RG_API int rg_random_bits(rg_random *r, int64_t n, uint64_t out[]);

/* The next n uniform numbers in the open interval (0, 1). Cost: that of rg_random_bits. */
RG_API int rg_random_uniform(rg_random *r, int64_t n, double out[]);

/* The next n normal numbers of mean 0 and variance 1, at most 8.7 in magnitude. Cost: that of
 * rg_random_bits, and for each number a logarithm and a cosine or sine. */
RG_API int rg_random_normal(rg_random *r, int64_t n, double out[]);

/* The next n integers from 0 to below - 1, each with the same probability. below: from 1 to
 * 2^64 - 1; rg_random_bits has all 2^64 values. Cost: one evaluation of Philox for each number,
 * rarely more. Errors: RG_ERR_ARG (below is 0). */
RG_API int rg_random_integer(rg_random *r, uint64_t below, int64_t n, uint64_t out[]);

/* Moves the stream by so many draws, as if they had been drawn; backwards if draws is negative.
 * Cost: that of an addition. */
RG_API int rg_random_jump(rg_random *r, int64_t draws);

#ifdef __cplusplus
}
#endif
#endif

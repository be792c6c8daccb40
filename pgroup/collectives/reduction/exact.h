/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Sums that depend neither on the order of the summands nor on which rank adds which.
 *
 * An rgi_exact holds any sum of doubles exactly: a fixed-point number from 2^-1074
 * up, in digits of 32 bits kept in words of 64, so that digits are added without
 * carrying at once. Two of them are merged by adding words, which is exact; only
 * the end is rounded. Inline, since the arrays' sums are in another library. */
#ifndef RGI_EXACT_H
#define RGI_EXACT_H

#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2,098 bits for the doubles, 64 for their number, and the sign. */
#define RGI_EXACT_DIGITS 68
#define RGI_EXACT_CARRY_AFTER (1 << 29) /* additions: 2^29 digits below 2^33 fit into a word */

typedef struct {
  int64_t digit[RGI_EXACT_DIGITS]; /* digit i counts 2^(32 i - 1074) */
  int64_t nans, plus, minus;       /* how many NaNs and infinities */
} rgi_exact;

#define RGI_EXACT_WORDS ((MPI_Count)(sizeof(rgi_exact) / sizeof(int64_t)))

/* Brings all digits but the highest, which has the sign, into 0 .. 2^32 - 1. */
static inline void rgi_exact_carry(rgi_exact *exact) {
  for (int i = 0; i + 1 < RGI_EXACT_DIGITS; i++) {
    int64_t up = exact->digit[i] >> 32;
    exact->digit[i] -= up * ((int64_t)1 << 32);
    exact->digit[i + 1] += up;
  }
}

static inline void rgi_exact_add(rgi_exact *exact, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  if (exponent == 0x7ff) {
    *(fraction ? &exact->nans : bits >> 63 ? &exact->minus : &exact->plus) += 1;
    return;
  }
  if (exponent)
    fraction |= (uint64_t)1 << 52;
  int shift = exponent ? exponent - 1 : 0, at = shift / 32, by = shift % 32;
  uint64_t low = fraction << by, high = by ? fraction >> (64 - by) : 0;
  int64_t sign = bits >> 63 ? -1 : 1;
  exact->digit[at] += sign * (int64_t)(low & 0xffffffff);
  exact->digit[at + 1] += sign * (int64_t)(low >> 32);
  exact->digit[at + 2] += sign * (int64_t)high;
}

/* The digit that bit number `bit` is in, and whether bits below it are set. */
static inline int rgi_exact_bit_of(const rgi_exact *exact, int bit) {
  return bit >= 0 && (exact->digit[bit / 32] >> bit % 32 & 1);
}

static inline int rgi_exact_any_below(const rgi_exact *exact, int bit) {
  if (bit <= 0)
    return 0;
  for (int i = 0; i < bit / 32; i++)
    if (exact->digit[i])
      return 1;
  return (exact->digit[bit / 32] & (((int64_t)1 << bit % 32) - 1)) != 0;
}

static inline int rgi_exact_negate_if_negative(rgi_exact *exact) {
  if (exact->digit[RGI_EXACT_DIGITS - 1] >= 0)
    return 0;
  for (int i = 0; i < RGI_EXACT_DIGITS; i++)
    exact->digit[i] = -exact->digit[i];
  rgi_exact_carry(exact);
  return 1;
}

static inline int rgi_exact_highest_bit(const rgi_exact *exact) {
  for (int i = RGI_EXACT_DIGITS - 1; i >= 0; i--)
    for (int bit = 63; bit >= 0 && exact->digit[i]; bit--)
      if (exact->digit[i] >> bit & 1)
        return 32 * i + bit;
  return -1;
}

/* Where the program has denormal numbers flushed to zero, sums are made with the processor's
 * defaults. */
typedef struct {
  int is_changed;
  fenv_t before;
} rgi_exact_environment;

static inline void rgi_exact_begin(rgi_exact_environment *environment) {
  volatile double denormal = 0x1p-1074;
  environment->is_changed = denormal * 2 == 0;
  if (environment->is_changed) {
    fegetenv(&environment->before);
    fesetenv(FE_DFL_ENV);
  }
}

static inline void rgi_exact_end(const rgi_exact_environment *environment) {
  if (environment->is_changed)
    fesetenv(&environment->before);
}

/* The value, rounded to so many bits: 53, or 24 for a float, whose least bit is
 * worth 2^-149. */
static inline double rgi_exact_round(rgi_exact *exact, int bits, int least) {
  if (exact->nans || (exact->plus && exact->minus))
    return (double)NAN;
  if (exact->plus || exact->minus)
    return exact->plus ? HUGE_VAL : -HUGE_VAL;
  rgi_exact_carry(exact);
  int negative = rgi_exact_negate_if_negative(exact), top = rgi_exact_highest_bit(exact),
      low = top - bits + 1;
  if (low < least)
    low = least;
  uint64_t value = 0;
  for (int bit = top; bit >= low; bit--)
    value = 2 * value + (uint64_t)rgi_exact_bit_of(exact, bit);
  if (rgi_exact_bit_of(exact, low - 1) && (rgi_exact_any_below(exact, low - 1) || (value & 1)))
    value++;
  double result = ldexp((double)value, low - 1074);
  return negative ? -result : result;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Sums that do not depend on who adds what in which order.
 *
 * An accumulator holds any sum of doubles exactly: a fixed-point number from
 * 2^-1074 up, in digits of 32 bits kept in words of 64, so that digits are added
 * without carrying at once. Accumulators are merged by adding words, which is
 * exact; only the end is rounded. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/state.h"
#include "runtime/error.h"

/* 2,098 bits for the doubles, 64 for their number, and the sign. */
#define DIGITS 68
#define CARRY_AFTER (1 << 29) /* additions: 2^29 digits below 2^33 fit into a word */

typedef struct {
  int64_t digit[DIGITS];     /* digit i counts 2^(32 i - 1074) */
  int64_t nans, plus, minus; /* how many NaNs and infinities */
} accumulator;

/* Brings all digits but the highest, which has the sign, into 0 .. 2^32 - 1. */
static void carry(accumulator *a) {
  for (int i = 0; i + 1 < DIGITS; i++) {
    int64_t up = a->digit[i] >> 32;
    a->digit[i] -= up * ((int64_t)1 << 32);
    a->digit[i + 1] += up;
  }
}

static void add(accumulator *a, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  if (exponent == 0x7ff) {
    *(fraction ? &a->nans : bits >> 63 ? &a->minus : &a->plus) += 1;
    return;
  }
  if (exponent)
    fraction |= (uint64_t)1 << 52;
  int shift = exponent ? exponent - 1 : 0, at = shift / 32, by = shift % 32;
  uint64_t low = fraction << by, high = by ? fraction >> (64 - by) : 0;
  int64_t sign = bits >> 63 ? -1 : 1;
  a->digit[at] += sign * (int64_t)(low & 0xffffffff);
  a->digit[at + 1] += sign * (int64_t)(low >> 32);
  a->digit[at + 2] += sign * (int64_t)high;
}

/* The digit that bit number `bit` is in, and whether bits below it are set. */
static int bit_of(const accumulator *a, int bit) {
  return bit >= 0 && (a->digit[bit / 32] >> bit % 32 & 1);
}

static int any_below(const accumulator *a, int bit) {
  if (bit <= 0)
    return 0;
  for (int i = 0; i < bit / 32; i++)
    if (a->digit[i])
      return 1;
  return (a->digit[bit / 32] & (((int64_t)1 << bit % 32) - 1)) != 0;
}

static int negate_if_negative(accumulator *a) {
  if (a->digit[DIGITS - 1] >= 0)
    return 0;
  for (int i = 0; i < DIGITS; i++)
    a->digit[i] = -a->digit[i];
  carry(a);
  return 1;
}

static int highest_bit(const accumulator *a) {
  for (int i = DIGITS - 1; i >= 0; i--)
    for (int bit = 63; bit >= 0 && a->digit[i]; bit--)
      if (a->digit[i] >> bit & 1)
        return 32 * i + bit;
  return -1;
}

/* The value, rounded to so many bits: 53, or 24 for a float, whose least bit is
 * worth 2^-149. */
static double round_off(accumulator *a, int bits, int least) {
  if (a->nans || (a->plus && a->minus))
    return (double)NAN;
  if (a->plus || a->minus)
    return a->plus ? HUGE_VAL : -HUGE_VAL;
  carry(a);
  int negative = negate_if_negative(a), top = highest_bit(a), low = top - bits + 1;
  if (low < least)
    low = least;
  uint64_t value = 0;
  for (int bit = top; bit >= low; bit--)
    value = 2 * value + (uint64_t)bit_of(a, bit);
  if (bit_of(a, low - 1) && (any_below(a, low - 1) || (value & 1)))
    value++;
  double result = ldexp((double)value, low - 1074);
  return negative ? -result : result;
}

/* --- over a group ---------------------------------------------------------------------- */

static int merge(const char *call, rg_group g, accumulator *a, MPI_Count columns) {
  rgi_state *state;
  RGI_TRY(rgi_state_of(call, g, &state));
  return rg_allreduce(g, MPI_IN_PLACE, a, columns * (MPI_Count)(sizeof *a / sizeof(int64_t)),
                      MPI_INT64_T, MPI_SUM);
}

static int check(const char *call, const void *x, MPI_Count n, MPI_Count columns,
                 const void *result) {
  if (n < 0 || columns < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld rows of %lld", call, (long long)n, (long long)columns);
  if ((!x && n > 0 && columns > 0) || (!result && columns > 0))
    return rgi_error(RG_ERR_ARG, "%s: the buffer is NULL", call);
  return RG_SUCCESS;
}

static void carry_all(accumulator *a, MPI_Count columns) {
  for (MPI_Count j = 0; j < columns; j++)
    carry(&a[j]);
}

int rg_sums_reproducible(rg_group g, const double *x, MPI_Count n, MPI_Count columns,
                         double *result) {
  RGI_TRY(check(__func__, x, n, columns, result));
  accumulator *a = calloc(columns ? (size_t)columns : 1, sizeof *a);
  if (!a)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %lld sums", __func__, (long long)columns);
  for (MPI_Count i = 0; i < n; i++) {
    for (MPI_Count j = 0; j < columns; j++)
      add(&a[j], x[i * columns + j]);
    if (i % CARRY_AFTER == CARRY_AFTER - 1)
      carry_all(a, columns);
  }
  carry_all(a, columns);
  int error = merge(__func__, g, a, columns);
  for (MPI_Count j = 0; j < columns && !error; j++)
    result[j] = round_off(&a[j], 53, 0);
  free(a);
  return error;
}

int rg_sum_reproducible(rg_group g, const double *x, MPI_Count n, double *result) {
  return rg_sums_reproducible(g, x, n, 1, result);
}

int rg_sum_reproducible_float(rg_group g, const float *x, MPI_Count n, float *result) {
  accumulator a = {{0}, 0, 0, 0};
  RGI_TRY(check(__func__, x, n, 1, result));
  for (MPI_Count i = 0; i < n; i++) {
    add(&a, (double)x[i]);
    if (i % CARRY_AFTER == CARRY_AFTER - 1)
      carry(&a);
  }
  carry(&a);
  RGI_TRY(merge(__func__, g, &a, 1));
  *result = (float)round_off(&a, 24, 1074 - 149);
  return RG_SUCCESS;
}

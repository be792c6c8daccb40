/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The types of elements that can be computed with, for loops that are written once
 * and compiled for each.
 *
 * X(RG_TYPE, name, type, work): `work` is the type in which sums and products are computed.
 * Integers wrap around, which C allows for unsigned types only. */
#ifndef RGI_TYPED_LOOPS_H
#define RGI_TYPED_LOOPS_H

#include <complex.h>
#include <stdint.h>

#include <regroup/array.h>

#define RGI_EACH_INTEGER(X)                                                                        \
  X(RG_TYPE_INT32, int32, int32_t, uint32_t)                                                       \
  X(RG_TYPE_INT64, int64, int64_t, uint64_t)
#define RGI_EACH_REAL(X)                                                                           \
  X(RG_TYPE_FLOAT, float, float, float)                                                            \
  X(RG_TYPE_DOUBLE, double, double, double)
#define RGI_EACH_COMPLEX(X)                                                                        \
  X(RG_TYPE_FLOAT_COMPLEX, float_complex, float _Complex, float _Complex)                          \
  X(RG_TYPE_DOUBLE_COMPLEX, double_complex, double _Complex, double _Complex)
#define RGI_EACH_ORDERED(X) RGI_EACH_INTEGER(X) RGI_EACH_REAL(X)
#define RGI_EACH_TYPE(X) RGI_EACH_ORDERED(X) RGI_EACH_COMPLEX(X)

/* For files with loops over elements: -O2 vectorises hardly any of them, and without
 * cx-limited-range a complex product is a call of a function. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define RGI_FAST_LOOPS _Pragma("GCC optimize(\"O3\", \"cx-limited-range\")")
#else
#define RGI_FAST_LOOPS
#endif

/* Before a loop whose iterations are independent of one another. */
#if defined(__GNUC__) && !defined(__clang__)
#define RGI_EACH_BY_ITSELF _Pragma("GCC ivdep")
#else
#define RGI_EACH_BY_ITSELF
#endif

/* total += at(0) + ... + at(n - 1), all doubles: in 8 sums, so that the compiler may
 * vectorise, over 4,096 terms at a time, so that rounding errors stay small. */
#define RGI_SUM(total, n, at)                                                                      \
  for (int64_t from_ = 0, to_; from_ < (n); from_ = to_) {                                         \
    double lane_[8] = {0};                                                                         \
    int64_t i_ = from_;                                                                            \
    to_ = (n)-from_ < 4096 ? (n) : from_ + 4096;                                                   \
    for (; i_ + 8 <= to_; i_ += 8)                                                                 \
      for (int j_ = 0; j_ < 8; j_++)                                                               \
        lane_[j_] += at(i_ + j_);                                                                  \
    for (; i_ < to_; i_++)                                                                         \
      lane_[0] += at(i_);                                                                          \
    (total) += ((lane_[0] + lane_[1]) + (lane_[2] + lane_[3])) +                                   \
               ((lane_[4] + lane_[5]) + (lane_[6] + lane_[7]));                                    \
  }

#endif

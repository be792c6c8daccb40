/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays of indices of type int and int64_t, for the functions that write_c.py writes. */
#ifndef RGI_GA_CONVERT_H
#define RGI_GA_CONVERT_H

#include <stdlib.h>

#include "ga/ga_handle.h"

/* Numbers for which no memory is allocated. */
enum { RGI_GA_ROOM = 64 };

static inline int rgi_ga_clamped(int dims) {
  return dims < 0 ? 0 : dims > GA_MAX_DIM ? GA_MAX_DIM : dims;
}

static inline const int64_t *rgi_ga_widened(int64_t n, const int from[], int64_t to[]) {
  for (int64_t i = 0; from && i < n; i++)
    to[i] = from[i];
  return from ? to : NULL;
}

static inline void rgi_ga_narrowed(int64_t n, const int64_t from[], int to[]) {
  for (int64_t i = 0; to && i < n; i++)
    to[i] = (int)from[i];
}

/* The same in reverse order. */
static inline void rgi_ga_narrowed_back(int64_t n, const int64_t from[], int to[]) {
  for (int64_t i = 0; to && i < n; i++)
    to[i] = (int)from[n - 1 - i];
}

static inline int64_t rgi_ga_total(int n, const int64_t numbers[]) {
  int64_t sum = 0;
  for (int i = 0; numbers && i < n; i++)
    sum += numbers[i];
  return sum;
}

/* Room for n numbers: `room` if they fit there, else memory that the caller frees. */
static inline int64_t *rgi_ga_room_for(int64_t n, int64_t room[]) {
  int64_t *memory = n <= RGI_GA_ROOM ? room : malloc((size_t)n * sizeof *memory);
  return memory ? memory : (abort(), room);
}

static inline void rgi_ga_flattened(int64_t n, int dims, int *from[], int64_t to[]) {
  for (int64_t i = 0; i < n; i++)
    rgi_ga_widened(dims, from[i], to + i * dims);
}

static inline void rgi_ga_flattened64(int64_t n, int dims, int64_t *from[], int64_t to[]) {
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < dims; d++)
      to[i * dims + d] = from[i][d];
}

#endif

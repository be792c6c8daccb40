/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches that wrap around, and may be longer than the array: these are passed on by pieces of at
 * most its extent. */
#include "ga/ga_patch.h"
#include "ga_core.h"

/* What is done with a piece; buf is not written by those that only read it. */
typedef int (*transfer)(rg_array a, const int64_t lo[], const int64_t end[], void *buf,
                        const int64_t ld[], const void *alpha);

static int put(rg_array a, const int64_t lo[], const int64_t end[], void *buf, const int64_t ld[],
               const void *alpha) {
  (void)alpha;
  return rg_array_put_periodic(a, lo, end, buf, ld);
}

static int get(rg_array a, const int64_t lo[], const int64_t end[], void *buf, const int64_t ld[],
               const void *alpha) {
  (void)alpha;
  return rg_array_get_periodic(a, lo, end, buf, ld);
}

typedef struct {
  rgi_ga_patch patch;
  int dims;
  const int64_t *lo, *ld;
  rg_array_spec spec;
  int64_t row[RG_ARRAY_MAX_DIMS]; /* elements of buf from index to index */
} long_patch;

/* The piece at these numbers of extents from lo, and where it is in buf. */
static int move(const long_patch *p, const int64_t at[], transfer work, char *buf,
                const void *alpha) {
  int64_t lo[RG_ARRAY_MAX_DIMS], end[RG_ARRAY_MAX_DIMS], offset = 0;
  for (int d = 0; d < p->dims; d++) {
    lo[d] = p->lo[d] + at[d] * p->spec.shape[d];
    end[d] =
        lo[d] + p->spec.shape[d] < p->patch.end[d] ? lo[d] + p->spec.shape[d] : p->patch.end[d];
    offset += at[d] * p->spec.shape[d] * p->row[d];
  }
  return work(p->patch.array, lo, end, buf + offset * (int64_t)p->spec.element_size, p->ld, alpha);
}

/* The next piece; 0 after the last one. */
static int advance(const long_patch *p, int64_t at[]) {
  for (int d = p->dims - 1; d >= 0; d--) {
    at[d]++;
    if (p->lo[d] + at[d] * p->spec.shape[d] < p->patch.end[d])
      return 1;
    at[d] = 0;
  }
  return 0;
}

static void by_pieces(const char *call, int g, const int64_t lo[], const int64_t hi[],
                      const int64_t ld[], transfer work, char *buf, const void *alpha) {
  long_patch p = {.patch = rgi_ga_patch_of(call, g, hi),
                  .dims = rgi_ga_handle_dims(g),
                  .lo = lo,
                  .spec = rgi_ga_handle_spec(call, g)};
  int64_t own[RG_ARRAY_MAX_DIMS], at[RG_ARRAY_MAX_DIMS] = {0};
  for (int d = 1; d < p.dims; d++)
    own[d - 1] = ld ? ld[d - 1] : p.patch.end[d] - lo[d];
  p.ld = own;
  p.row[p.dims - 1] = 1;
  for (int d = p.dims - 1; d > 0; d--)
    p.row[d - 1] = p.row[d] * own[d - 1];
  do
    rgi_ga_error_check(call, g, move(&p, at, work, buf, alpha));
  while (advance(&p, at));
}

void rgi_ga_periodic_put(int g_a, const int64_t lo[], const int64_t hi[], const void *buf,
                         const int64_t ld[]) {
  by_pieces(__func__, g_a, lo, hi, ld, put, (char *)(uintptr_t)buf, NULL);
}

void rgi_ga_periodic_get(int g_a, const int64_t lo[], const int64_t hi[], void *buf,
                         const int64_t ld[]) {
  by_pieces(__func__, g_a, lo, hi, ld, get, buf, NULL);
}

static int accumulate(rg_array a, const int64_t lo[], const int64_t end[], void *buf,
                      const int64_t ld[], const void *alpha) {
  return rg_array_acc_periodic(a, lo, end, buf, ld, alpha);
}

void rgi_ga_periodic_acc(int g_a, const int64_t lo[], const int64_t hi[], const void *buf,
                         const int64_t ld[], const void *alpha) {
  by_pieces(__func__, g_a, lo, hi, ld, accumulate, (char *)(uintptr_t)buf, alpha);
}

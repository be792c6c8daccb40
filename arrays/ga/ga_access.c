/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One-sided access, blocking. */
#include "ga/ga_patch.h"
#include "ga_core.h"

void rgi_ga_put(int g_a, const int64_t lo[], const int64_t hi[], const void *buf,
                const int64_t ld[]) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_put(patch.array, lo, patch.end, buf, ld));
}

void rgi_ga_get(int g_a, const int64_t lo[], const int64_t hi[], void *buf, const int64_t ld[]) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_get(patch.array, lo, patch.end, buf, ld));
}

void rgi_ga_acc(int g_a, const int64_t lo[], const int64_t hi[], const void *buf,
                const int64_t ld[], const void *alpha) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_acc(patch.array, lo, patch.end, buf, ld, alpha));
}

void rgi_ga_strided_put(int g_a, const int64_t lo[], const int64_t hi[], const int64_t skip[],
                        const void *buf, const int64_t ld[]) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_put_strided(patch.array, lo, patch.end, skip, buf, ld));
}

void rgi_ga_strided_get(int g_a, const int64_t lo[], const int64_t hi[], const int64_t skip[],
                        void *buf, const int64_t ld[]) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_get_strided(patch.array, lo, patch.end, skip, buf, ld));
}

void rgi_ga_strided_acc(int g_a, const int64_t lo[], const int64_t hi[], const int64_t skip[],
                        const void *buf, const int64_t ld[], const void *alpha) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a, rg_array_acc_strided(patch.array, lo, patch.end, skip, buf, ld, alpha));
}

void rgi_ga_put_field(int g_a, const int64_t lo[], const int64_t hi[], int foff, int fsize,
                      const void *buf, const int64_t ld[]) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a,
             rg_array_put_field(patch.array, lo, patch.end, (size_t)foff, (size_t)fsize, buf, ld));
}

void rgi_ga_get_field(int g_a, const int64_t lo[], const int64_t hi[], int foff, int fsize,
                      void *buf, const int64_t ld[]) {
  rgi_ga_patch patch = RGI_GA_PATCH(g_a, hi);
  RGI_GA_TRY(g_a,
             rg_array_get_field(patch.array, lo, patch.end, (size_t)foff, (size_t)fsize, buf, ld));
}

/* --- elements ------------------------------------------------------------------------------ */

void rgi_ga_gather_flat(int g_a, void *v, const int64_t subsArray[], int64_t n) {
  RGI_GA_TRY(g_a, rg_array_gather(RGI_GA_ARRAY(g_a), n, subsArray, v));
}

void rgi_ga_scatter_flat(int g_a, const void *v, const int64_t subsArray[], int64_t n) {
  RGI_GA_TRY(g_a, rg_array_scatter(RGI_GA_ARRAY(g_a), n, subsArray, v));
}

void rgi_ga_scatter_acc_flat(int g_a, const void *v, const int64_t subsArray[], int64_t n,
                             const void *alpha) {
  RGI_GA_TRY(g_a, rg_array_scatter_acc(RGI_GA_ARRAY(g_a), n, subsArray, v, alpha));
}

/* The generated forms have made one list of the subscripts. */
void rgi_ga_gather(int g_a, void *v, const int64_t subsArray[], int64_t n) {
  RGI_GA_TRY(g_a, rg_array_gather(RGI_GA_ARRAY(g_a), n, subsArray, v));
}

void rgi_ga_scatter(int g_a, const void *v, const int64_t subsArray[], int64_t n) {
  RGI_GA_TRY(g_a, rg_array_scatter(RGI_GA_ARRAY(g_a), n, subsArray, v));
}

void rgi_ga_scatter_acc(int g_a, const void *v, const int64_t subsArray[], int64_t n,
                        const void *alpha) {
  RGI_GA_TRY(g_a, rg_array_scatter_acc(RGI_GA_ARRAY(g_a), n, subsArray, v, alpha));
}

long rgi_ga_read_inc(int g_a, const int64_t subscript[], long inc) {
  int64_t before = 0;
  RGI_GA_TRY(g_a, rg_array_read_inc(RGI_GA_ARRAY(g_a), subscript, inc, &before));
  return (long)before;
}

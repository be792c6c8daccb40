/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The origin side of transfers: packed where a transport cannot send it from, or read it into,
 * where it lies, and scaled where an accumulate has a factor. */
#include "engine/transfer.h"

#include "base/copy.h"
#include "distribution/type.h"
#include "engine/scalar.h"

const char *const rgi_transfer_calls[] = {[RGI_ACCESS_KIND_GET] = "rg_array_get",
                                          [RGI_ACCESS_KIND_PUT] = "rg_array_put",
                                          [RGI_ACCESS_KIND_ACC] = "rg_array_acc",
                                          [RGI_ACCESS_KIND_FETCH_ADD] = "rg_array_read_inc",
                                          [RGI_ACCESS_KIND_COMPARE_SWAP] =
                                              "rg_array_compare_and_swap"};

void rgi_transfer_measure_runs(rgi_transfer *t) {
  t->bytes = 0;
  t->reach = 0;
  t->flat = t->n == 1;
  for (int i = 0; i < t->n; i++) {
    uint64_t end = (uint64_t)(t->runs[i].target + t->runs[i].bytes);
    t->reach = end > t->reach ? end : t->reach;
    t->bytes += t->runs[i].bytes;
  }
}

/* A row of the origin side, and where it is in packed memory; both move on. */
typedef void packing(const rgi_transfer *t, char *origin, char *packed, int64_t bytes);

static void copy_in(const rgi_transfer *t, char *origin, char *packed, int64_t bytes) {
  (void)t;
  rgi_copy_block(packed, origin, (size_t)bytes);
}

static void copy_out(const rgi_transfer *t, char *origin, char *packed, int64_t bytes) {
  (void)t;
  rgi_copy_block(origin, packed, (size_t)bytes);
}

static void scale_in(const rgi_transfer *t, char *origin, char *packed, int64_t bytes) {
  rgi_scalar_multiply(t->type, t->alpha, (size_t)bytes / rgi_type_size(t->type, 1), origin, packed);
}

static void pack_patch(const rgi_transfer *t, packing *f, char *packed) {
  const rgi_strided *p = &t->patch;
  int64_t at[RGI_STRIDED_DIMS] = {0}, origin = 0, target = 0, row = p->extent[0];
  int64_t rows = p->dims > 1 ? p->extent[1] : 1;
  do
    for (int64_t i = 0; i < rows; i++, packed += row)
      f(t, t->origin + origin + (i ? i * p->origin_stride[1] : 0), packed, row);
  while (rgi_strided_step(p, at, &origin, &target));
}

static void pack_all(const rgi_transfer *t, packing *f, char *packed) {
  if (!t->runs)
    pack_patch(t, f, packed);
  for (int i = 0; t->runs && i < t->n; i++) {
    f(t, t->origin + t->runs[i].origin, packed, t->runs[i].bytes);
    packed += t->runs[i].bytes;
  }
}

void rgi_transfer_pack(const rgi_transfer *t, char *packed, int in) {
  pack_all(t, in ? copy_in : copy_out, packed);
}

void rgi_transfer_pack_scaled(const rgi_transfer *t, char *to) {
  pack_all(t, scale_in, to);
}

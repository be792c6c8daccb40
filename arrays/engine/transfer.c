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

void rgi_transfer_measure_runs(rgi_transfer *transfer) {
  transfer->bytes = 0;
  transfer->reach = 0;
  transfer->flat = transfer->n == 1;
  for (int i = 0; i < transfer->n; i++) {
    uint64_t end = (uint64_t)(transfer->runs[i].target + transfer->runs[i].bytes);
    transfer->reach = end > transfer->reach ? end : transfer->reach;
    transfer->bytes += transfer->runs[i].bytes;
  }
}

/* A row of the origin side, and where it is in packed memory; both move on. */
typedef void packing_fn(const rgi_transfer *transfer, char *origin, char *packed, int64_t bytes);

static void copy_in(const rgi_transfer *transfer, char *origin, char *packed, int64_t bytes) {
  (void)transfer;
  rgi_copy_block(packed, origin, (size_t)bytes);
}

static void copy_out(const rgi_transfer *transfer, char *origin, char *packed, int64_t bytes) {
  (void)transfer;
  rgi_copy_block(origin, packed, (size_t)bytes);
}

static void scale_in(const rgi_transfer *transfer, char *origin, char *packed, int64_t bytes) {
  rgi_scalar_multiply(transfer->type, transfer->alpha,
                      (size_t)bytes / rgi_type_size(transfer->type, 1), origin, packed);
}

static void pack_patch(const rgi_transfer *transfer, packing_fn *packing, char *packed) {
  const rgi_strided *p = &transfer->patch;
  int64_t at[RGI_STRIDED_DIMS] = {0}, origin = 0, target = 0, row = p->extent[0];
  int64_t rows = p->dims > 1 ? p->extent[1] : 1;
  do
    for (int64_t i = 0; i < rows; i++, packed += row)
      packing(transfer, transfer->origin + origin + (i ? i * p->origin_stride[1] : 0), packed, row);
  while (rgi_strided_step(p, at, &origin, &target));
}

static void pack_all(const rgi_transfer *transfer, packing_fn *packing, char *packed) {
  if (!transfer->runs)
    pack_patch(transfer, packing, packed);
  for (int i = 0; transfer->runs && i < transfer->n; i++) {
    packing(transfer, transfer->origin + transfer->runs[i].origin, packed, transfer->runs[i].bytes);
    packed += transfer->runs[i].bytes;
  }
}

void rgi_transfer_pack(const rgi_transfer *transfer, char *packed, int in) {
  pack_all(transfer, in ? copy_in : copy_out, packed);
}

void rgi_transfer_pack_scaled(const rgi_transfer *transfer, char *to) {
  pack_all(transfer, scale_in, to);
}

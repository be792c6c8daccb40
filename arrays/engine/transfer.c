/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "engine/transfer.h"

#include <string.h>

#include "engine/scalar.h"

int64_t rgi_transfer_most;

const char *const rgi_transfer_calls[] = {"rg_array_get", "rg_array_put", "rg_array_acc"};

static void copy_patch(const rgi_strided *p, int d, char *origin, char **packed, int in) {
  if (d == p->dims - 1) {
    memcpy(in ? *packed : origin, in ? origin : *packed, (size_t)p->extent[d]);
    *packed += p->extent[d];
    return;
  }
  for (int64_t i = 0; i < p->extent[d]; i++)
    copy_patch(p, d + 1, origin + i * p->origin_stride[d], packed, in);
}

void rgi_transfer_pack(const rgi_transfer *t, char *packed, int in) {
  if (!t->runs)
    copy_patch(&t->patch, 0, t->origin, &packed, in);
  for (int i = 0; t->runs && i < t->n; i++) {
    char *origin = t->origin + t->runs[i].origin;
    memcpy(in ? packed : origin, in ? origin : packed, (size_t)t->runs[i].bytes);
    packed += t->runs[i].bytes;
  }
}

void rgi_transfer_pack_scaled(const rgi_transfer *t, char *to) {
  size_t size;
  rgi_scalar_mpi_type(t->type, &size);
  if (!t->runs)
    rgi_strided_scale(&t->patch, t->origin, t->type, t->alpha, to);
  for (int i = 0; t->runs && i < t->n; i++) {
    rgi_scalar_multiply(t->type, t->alpha, (size_t)t->runs[i].bytes / size,
                        t->origin + t->runs[i].origin, to);
    to += t->runs[i].bytes;
  }
}

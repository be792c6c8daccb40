/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Single elements by ARMCI's vector operations. */
#include <armci.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/armci_window.h"
#include "engine/rma.h"
#include "engine/scalar.h"

static const int acc_types[] = {
    [RG_TYPE_INT32] = ARMCI_ACC_INT,         [RG_TYPE_INT64] = ARMCI_ACC_LNG,
    [RG_TYPE_FLOAT] = ARMCI_ACC_FLT,         [RG_TYPE_DOUBLE] = ARMCI_ACC_DBL,
    [RG_TYPE_FLOAT_COMPLEX] = ARMCI_ACC_CPL, [RG_TYPE_DOUBLE_COMPLEX] = ARMCI_ACC_DCP};

static void issue_vector(const rgi_transfer_elements *e, void **targets) {
  const rgi_scalar one = rgi_scalar_one(e->type);
  void **origin = (void **)(uintptr_t)e->origin;
  armci_giov_t v = {.bytes = (int)e->element, .ptr_array_len = (int)e->n};
  v.src_ptr_array = e->kind == RGI_ACCESS_KIND_GET ? targets : origin;
  v.dst_ptr_array = e->kind == RGI_ACCESS_KIND_GET ? origin : targets;
  if (e->kind == RGI_ACCESS_KIND_GET)
    ARMCI_GetV(&v, 1, e->target);
  else if (e->kind == RGI_ACCESS_KIND_PUT)
    ARMCI_PutV(&v, 1, e->target);
  else
    ARMCI_AccV(acc_types[e->type], (void *)(uintptr_t)(e->alpha ? e->alpha : &one), &v, 1,
               e->target);
}

/* Elements that count as one or as n operations. A get waits for its data; the others stay under
 * way until a fence. */
static int move_some(const rgi_transfer_elements *e, void **targets) {
  uint64_t low = UINT64_MAX, high = 0;
  rgi_rma_room room = {rgi_rma.one_by_one ? (int)e->n : 1, 0, 0};
  for (int64_t i = 0; i < e->n; i++) {
    targets[i] = (char *)rgi_rma.bases[e->target] + e->offsets[i];
    low = e->offsets[i] < low ? e->offsets[i] : low;
    high = e->offsets[i] > high ? e->offsets[i] : high;
  }
  high += e->element;
  RGI_TRY(rgi_rma_before(e->target, e->kind, low, high, &room));
  issue_vector(e, targets);
  int error = rgi_armci_window_error("ARMCI's vector operation");
  int failed = rgi_rma_started(e->target, e->kind, low, high, &room);
  if (e->kind == RGI_ACCESS_KIND_GET)
    rgi_rma_left(e->target, &room);
  return error ? error : failed;
}

int rgi_rma_elements(const rgi_transfer_elements *e) {
  int64_t most = rgi_rma.one_by_one ? rgi_rma_room_most() : e->n;
  void **targets = malloc((size_t)e->n * sizeof *targets);
  int error = RG_SUCCESS;
  if (!targets)
    return rgi_error(RG_ERR_NOMEM, "no memory for %lld addresses", (long long)e->n);
  for (int64_t i = 0; i < e->n && !error; i += most) {
    rgi_transfer_elements some = *e;
    some.n = most < e->n - i ? most : e->n - i;
    some.offsets += i;
    some.origin += i;
    error = move_some(&some, targets);
  }
  free(targets);
  return error;
}

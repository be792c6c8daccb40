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

int rgi_rma_elements(const rgi_transfer_elements *e) {
  uint64_t low = UINT64_MAX, high = 0;
  void **targets = malloc((size_t)e->n * sizeof *targets);
  if (!targets)
    return rgi_error(RG_ERR_NOMEM, "no memory for %lld addresses", (long long)e->n);
  for (int64_t i = 0; i < e->n; i++) {
    targets[i] = (char *)rgi_rma.bases[e->target] + e->offsets[i];
    low = e->offsets[i] < low ? e->offsets[i] : low;
    high = e->offsets[i] > high ? e->offsets[i] : high;
  }
  high += e->element;
  int error = rgi_rma_before(e->target, e->kind, low, high, NULL);
  if (!error) {
    issue_vector(e, targets);
    rgi_rma_started(e->target, e->kind, low, high);
    error = rgi_armci_window_error("ARMCI's vector operation");
  }
  free(targets);
  return error;
}

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

static void issue_vector(const rgi_transfer_elements *elements, void **targets) {
  const rgi_scalar one = rgi_scalar_one(elements->type);
  void **origin = (void **)(uintptr_t)elements->origin;
  armci_giov_t v = {.bytes = (int)elements->element, .ptr_array_len = (int)elements->n};
  v.src_ptr_array = elements->kind == RGI_ACCESS_KIND_GET ? targets : origin;
  v.dst_ptr_array = elements->kind == RGI_ACCESS_KIND_GET ? origin : targets;
  if (elements->kind == RGI_ACCESS_KIND_GET)
    ARMCI_GetV(&v, 1, elements->target);
  else if (elements->kind == RGI_ACCESS_KIND_PUT)
    ARMCI_PutV(&v, 1, elements->target);
  else
    ARMCI_AccV(acc_types[elements->type],
               (void *)(uintptr_t)(elements->alpha ? elements->alpha : &one), &v, 1,
               elements->target);
}

/* Elements that count as one or as n operations. A get waits for its data; the others stay under
 * way until a fence. */
static int move_some(const rgi_transfer_elements *elements, void **targets) {
  uint64_t low = UINT64_MAX, high = 0;
  rgi_rma_room room = {rgi_rma.one_by_one ? (int)elements->n : 1, 0, 0};
  for (int64_t i = 0; i < elements->n; i++) {
    targets[i] = (char *)rgi_rma.bases[elements->target] + elements->offsets[i];
    low = elements->offsets[i] < low ? elements->offsets[i] : low;
    high = elements->offsets[i] > high ? elements->offsets[i] : high;
  }
  high += elements->element;
  RGI_TRY(rgi_rma_before(elements->target, elements->kind, low, high, &room));
  issue_vector(elements, targets);
  int error = rgi_armci_window_error("ARMCI's vector operation");
  int failed = rgi_rma_started(elements->target, elements->kind, low, high, &room);
  if (elements->kind == RGI_ACCESS_KIND_GET)
    rgi_rma_left(elements->target, &room);
  return error ? error : failed;
}

int rgi_rma_elements(const rgi_transfer_elements *elements) {
  int64_t most = rgi_rma.one_by_one ? rgi_rma_room_most() : elements->n;
  void **targets = malloc((size_t)elements->n * sizeof *targets);
  int error = RG_SUCCESS;
  if (!targets)
    return rgi_error(RG_ERR_NOMEM, "no memory for %lld addresses", (long long)elements->n);
  for (int64_t i = 0; i < elements->n && !error; i += most) {
    rgi_transfer_elements some = *elements;
    some.n = most < elements->n - i ? most : elements->n - i;
    some.offsets += i;
    some.origin += i;
    error = move_some(&some, targets);
  }
  free(targets);
  return error;
}

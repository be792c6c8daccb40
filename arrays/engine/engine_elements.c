/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Single elements: by ARMCI's vector operations, or, by the node daemons, as runs of one element
 * each. */
#include <armci.h>
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/armci_window.h"
#include "engine/daemon_transport.h"
#include "engine/engine.h"
#include "engine/rma.h"
#include "engine/scalar.h"

typedef struct {
  rgi_transfer_kind kind;
  int target;
  const uint64_t *offsets;
  void **origin;
  size_t element;
  rg_array_type type;
  const void *alpha;
} vector_transfer;

static const int acc_types[] = {
    [RG_TYPE_INT32] = ARMCI_ACC_INT,         [RG_TYPE_INT64] = ARMCI_ACC_LNG,
    [RG_TYPE_FLOAT] = ARMCI_ACC_FLT,         [RG_TYPE_DOUBLE] = ARMCI_ACC_DBL,
    [RG_TYPE_FLOAT_COMPLEX] = ARMCI_ACC_CPL, [RG_TYPE_DOUBLE_COMPLEX] = ARMCI_ACC_DCP};

static void issue_vector(const vector_transfer *t, armci_giov_t *v) {
  if (t->kind == RGI_TRANSFER_GET)
    ARMCI_GetV(v, 1, t->target);
  else if (t->kind == RGI_TRANSFER_PUT)
    ARMCI_PutV(v, 1, t->target);
  else
    ARMCI_AccV(acc_types[t->type], (void *)(uintptr_t)t->alpha, v, 1, t->target);
}

/* As runs of one element each, from the lowest address on. */
static int move_as_runs(const vector_transfer *t, int n) {
  rgi_strided_run *runs = malloc((size_t)n * sizeof *runs);
  uintptr_t base = UINTPTR_MAX;
  if (!runs)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d elements", n);
  for (int i = 0; i < n; i++)
    base = (uintptr_t)t->origin[i] < base ? (uintptr_t)t->origin[i] : base;
  for (int i = 0; i < n; i++)
    runs[i] = (rgi_strided_run){(int64_t)((uintptr_t)t->origin[i] - base), (int64_t)t->offsets[i],
                                (int64_t)t->element};
  int error = rgi_engine_runs(t->kind, t->target, 0, (void *)base, n, runs, t->type, t->alpha);
  free(runs);
  return error;
}

/* targets: room for n pointers. */
static int move_vector(const vector_transfer *t, int n, void **targets) {
  uint64_t low = UINT64_MAX, high = 0;
  if (rgi_daemon_transport_is_used())
    return move_as_runs(t, n);
  for (int i = 0; i < n; i++) {
    targets[i] = (char *)rgi_rma.bases[t->target] + t->offsets[i];
    low = t->offsets[i] < low ? t->offsets[i] : low;
    high = t->offsets[i] > high ? t->offsets[i] : high;
  }
  high += t->element;
  RGI_TRY(rgi_rma_before(t->target, t->kind, low, high));
  armci_giov_t v = {.bytes = (int)t->element, .ptr_array_len = n};
  v.src_ptr_array = t->kind == RGI_TRANSFER_GET ? targets : t->origin;
  v.dst_ptr_array = t->kind == RGI_TRANSFER_GET ? t->origin : targets;
  issue_vector(t, &v);
  rgi_rma_started(t->target, t->kind, low, high);
  return rgi_armci_window_error("ARMCI's vector operation");
}

static int move_all(vector_transfer *t, int64_t n) {
  if (n == 0)
    return RG_SUCCESS;
  if (t->element > INT_MAX)
    return rgi_error(RG_ERR_LIMIT, "elements of %zu bytes cannot be gathered from another node",
                     t->element);
  int64_t most = rgi_transfer_most / (int64_t)t->element, step = n;
  if (step > most)
    step = most < 1 ? 1 : most;
  void **targets = malloc((size_t)step * sizeof *targets);
  if (!targets)
    return rgi_error(RG_ERR_NOMEM, "no memory for %lld addresses", (long long)step);
  int error = RG_SUCCESS;
  for (int64_t i = 0; i < n && !error; i += step) {
    error = move_vector(t, (int)(step < n - i ? step : n - i), targets);
    t->offsets += step;
    t->origin += step;
  }
  free(targets);
  return error;
}

int rgi_engine_put_elements(int target, int64_t n, const uint64_t offsets[], const void *const at[],
                            size_t element) {
  vector_transfer t = {RGI_TRANSFER_PUT, target,         offsets, (void **)(uintptr_t)at,
                       element,          RG_TYPE_OPAQUE, NULL};
  return move_all(&t, n);
}

int rgi_engine_get_elements(int target, int64_t n, const uint64_t offsets[], void *const at[],
                            size_t element) {
  vector_transfer t = {RGI_TRANSFER_GET, target,         offsets, (void **)(uintptr_t)at,
                       element,          RG_TYPE_OPAQUE, NULL};
  return move_all(&t, n);
}

int rgi_engine_acc_elements(int target, int64_t n, const uint64_t offsets[], const void *const at[],
                            size_t element, rg_array_type type, const void *alpha) {
  const rgi_scalar one = rgi_scalar_one(type);
  vector_transfer t = {RGI_TRANSFER_ACC,    target, offsets, (void **)(uintptr_t)at, element, type,
                       alpha ? alpha : &one};
  return move_all(&t, n);
}

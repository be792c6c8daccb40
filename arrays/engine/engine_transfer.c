/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Patches and runs: patches are cut into parts that the transport takes, and each part is one
 * operation. The handle is the list of them. */
#include <limits.h>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/scalar.h"
#include "progress/wait.h"

/* --- starting ---------------------------------------------------------------------- */

static void drop_all(rgi_engine_handle *handle) {
  for (rgi_transport_op *op = *handle, *next; op; op = next) {
    next = op->next;
    rgi_engine_transport->drop(op);
  }
  *handle = NULL;
}

/* Puts the operations of one part in front of the list. */
static void add_part(rgi_engine_handle *list, rgi_engine_handle part) {
  rgi_transport_op *last = part;
  while (last && last->next)
    last = last->next;
  if (!last)
    return;
  last->next = *list;
  *list = part;
}

/* Cuts the outermost dimension. The parts of a run of bytes are multiples of every element. */
static int start_parts(const rgi_transfer *transfer, rgi_engine_handle *list) {
  int top = transfer->patch.dims - 1;
  int64_t n = transfer->patch.extent[top], step = rgi_engine_most / (transfer->bytes / n);
  if (top == 0)
    step -= step % (int64_t)sizeof(double[2]);
  for (int64_t i = 0, k; i < n; i += k) {
    rgi_transfer part = *transfer;
    rgi_engine_handle one;
    k = step < 1 ? 1 : step < n - i ? step : n - i;
    part.origin += i * transfer->patch.origin_stride[top];
    part.offset += (uint64_t)(i * transfer->patch.target_stride[top]);
    part.patch.extent[top] = k;
    part.patch.dims -= k == 1 && top > 0;
    RGI_TRY(rgi_engine_start(&part, &one));
    add_part(list, one);
  }
  return RG_SUCCESS;
}

static int start_all_parts(const rgi_transfer *transfer, rgi_engine_handle *handle) {
  int error = start_parts(transfer, handle);
  if (error)
    rgi_engine_wait(handle);
  return error;
}

int rgi_engine_start(rgi_transfer *transfer, rgi_engine_handle *handle) {
  const rgi_strided *p = &transfer->patch;
  *handle = NULL;
  if (transfer->kind != RGI_ACCESS_KIND_ACC || rgi_scalar_is_one(transfer->type, transfer->alpha))
    transfer->alpha = NULL;
  if (transfer->runs) {
    rgi_transfer_measure_runs(transfer);
    return transfer->n ? rgi_engine_transport->begin(transfer, handle) : RG_SUCCESS;
  }
  transfer->flat = 1;
  transfer->bytes = 1;
  transfer->reach = 1;
  for (int d = 0; d < p->dims; d++) {
    transfer->flat &= p->extent[d] == 1 || p->origin_stride[d] == transfer->bytes;
    transfer->reach += (uint64_t)((p->extent[d] - 1) * p->target_stride[d]);
    transfer->bytes *= p->extent[d];
  }
  if (transfer->bytes > rgi_engine_most)
    return start_all_parts(transfer, handle);
  return transfer->bytes ? rgi_engine_transport->begin(transfer, handle) : RG_SUCCESS;
}

/* --- ending ------------------------------------------------------------------------- */

int rgi_engine_test(rgi_engine_handle *handle, int *done) {
  while (*handle) {
    rgi_transport_op *op = *handle;
    int over = 0, error = rgi_engine_transport->test(op, &over);
    if (error) {
      drop_all(handle);
      return error;
    }
    if (!over) {
      *done = 0;
      return RG_SUCCESS;
    }
    *handle = op->next;
    rgi_engine_transport->drop(op);
  }
  *done = 1;
  return RG_SUCCESS;
}

/* No group's deaths end the wait: a dead process's memory can be reached, too. */
int rgi_engine_wait(rgi_engine_handle *handle) {
  rgi_wait wait;
  int error = RG_SUCCESS;
  if (*handle)
    rgi_wait_start_unscoped(&wait, (*handle)->call, (*handle)->target);
  while (*handle && !error) {
    rgi_transport_op *op = *handle;
    error = rgi_engine_transport->wait(op, &wait);
    if (!error) {
      *handle = op->next;
      rgi_engine_transport->drop(op);
    }
  }
  drop_all(handle);
  return error;
}

/* --- single elements: as many at a time as the transport takes -------------------------------- */

int rgi_engine_elements(const rgi_transfer_elements *elements) {
  if (elements->element > INT_MAX)
    return rgi_error(RG_ERR_LIMIT, "elements of %zu bytes cannot be gathered from another node",
                     elements->element);
  int64_t most = rgi_engine_most / (int64_t)elements->element;
  if (most < 1)
    most = 1;
  for (int64_t i = 0; i < elements->n; i += most) {
    rgi_transfer_elements some = *elements;
    some.n = most < elements->n - i ? most : elements->n - i;
    some.offsets += i;
    some.origin += i;
    RGI_TRY(rgi_engine_transport->elements(&some));
  }
  return RG_SUCCESS;
}

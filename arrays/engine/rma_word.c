/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Fetch-and-add and compare-and-swap. ARMCI_Rmw adds ints only, and ARMCI has no
 * compare-and-swap. MPI's functions on the same window are atomic with ARMCI_Rmw and with
 * accumulates: the target's MPI does all of them one after the other. */
#include <armci.h>
#include <limits.h>

#include "base/error.h"
#include "engine/armci_window.h"
#include "engine/rma.h"
#include "engine/scalar.h"

/* An element of either type, as MPI wants it. */
static rgi_scalar pack_integer(rg_array_type type, int64_t value) {
  rgi_scalar i = {.int64 = value};
  if (type == RG_TYPE_INT32)
    i.int32 = (int32_t)value;
  return i;
}

static void fetch_and_add(const rgi_transfer_word *word, rgi_scalar *was) {
  int op = word->type == RG_TYPE_INT32 ? ARMCI_FETCH_AND_ADD : ARMCI_FETCH_AND_ADD_LONG;
  rgi_scalar add = pack_integer(word->type, word->a);
  size_t size;
  if (word->a >= INT_MIN && word->a <= INT_MAX) {
    ARMCI_Rmw(op, was, (char *)rgi_rma.bases[word->target] + word->offset, (int)word->a,
              word->target);
    return;
  }
  MPI_Fetch_and_op(&add, was, rgi_scalar_mpi_type(word->type, &size), word->target,
                   (MPI_Aint)word->offset, MPI_SUM, rgi_rma.window);
  MPI_Win_flush(word->target, rgi_rma.window);
}

static void compare_and_swap(const rgi_transfer_word *word, rgi_scalar *was) {
  rgi_scalar is = pack_integer(word->type, word->a), set = pack_integer(word->type, word->b);
  size_t size;
  MPI_Compare_and_swap(&set, &is, was, rgi_scalar_mpi_type(word->type, &size), word->target,
                       (MPI_Aint)word->offset, rgi_rma.window);
  MPI_Win_flush(word->target, rgi_rma.window);
}

int rgi_rma_word(const rgi_transfer_word *word, int64_t *before) {
  rgi_scalar was = {.int64 = 0};
  rgi_rma_room room = {1, 1, 0};
  RGI_TRY(rgi_rma_before(word->target, RGI_ACCESS_KIND_ACC, word->offset,
                         word->offset + sizeof(int64_t), &room));
  if (word->kind == RGI_ACCESS_KIND_FETCH_ADD)
    fetch_and_add(word, &was);
  else
    compare_and_swap(word, &was);
  int error = rgi_armci_window_error(rgi_transfer_calls[word->kind]);
  int failed = rgi_rma_started(word->target, word->kind, 0, 0, &room);
  rgi_rma_left(word->target, &room);
  RGI_TRY(error ? error : failed);
  *before = word->type == RG_TYPE_INT32 ? was.int32 : was.int64;
  return RG_SUCCESS;
}

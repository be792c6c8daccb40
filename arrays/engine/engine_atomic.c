/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Read-increment and compare-and-swap. ARMCI_Rmw adds ints only, and ARMCI has no
 * compare-and-swap. MPI's functions on the same window are atomic with ARMCI_Rmw and with
 * accumulates: the target's MPI does all of them one after the other. */
#include <armci.h>
#include <limits.h>

#include "base/error.h"
#include "engine/armci_window.h"
#include "engine/daemon_transport.h"
#include "engine/engine.h"
#include "engine/rma.h"
#include "engine/scalar.h"
#include "noded/query.h"

/* An element of either type, as MPI wants it. */
typedef union {
  int32_t small;
  int64_t large;
} integer;

static integer pack_integer(rg_array_type type, int64_t value) {
  integer i = {.large = value};
  if (type == RG_TYPE_INT32)
    i.small = (int32_t)value;
  return i;
}

static int64_t unpack_integer(rg_array_type type, integer i) {
  return type == RG_TYPE_INT32 ? i.small : i.large;
}

static int wait_before(int target, uint64_t offset) {
  return rgi_rma_before(target, RGI_TRANSFER_ACC, offset, offset + sizeof(int64_t));
}

int rgi_engine_fetch_add(int target, uint64_t offset, rg_array_type type, int64_t increment,
                         int64_t *value) {
  size_t size;
  integer add = pack_integer(type, increment), was = {0};
  MPI_Datatype mpi = rgi_scalar_mpi_type(type, &size);
  if (rgi_daemon_transport_is_used())
    return rgi_daemon_transport_word("rg_array_read_inc", RGI_QUERY_FETCH_ADD, target, offset, type,
                                     increment, 0, value);
  RGI_TRY(wait_before(target, offset));
  if (increment >= INT_MIN && increment <= INT_MAX) {
    int op = type == RG_TYPE_INT32 ? ARMCI_FETCH_AND_ADD : ARMCI_FETCH_AND_ADD_LONG;
    ARMCI_Rmw(op, &was, (char *)rgi_rma.bases[target] + offset, (int)increment, target);
  } else {
    MPI_Fetch_and_op(&add, &was, mpi, target, (MPI_Aint)offset, MPI_SUM, rgi_rma.window);
    MPI_Win_flush(target, rgi_rma.window);
  }
  RGI_TRY(rgi_armci_window_error("rg_array_read_inc"));
  *value = unpack_integer(type, was);
  return RG_SUCCESS;
}

int rgi_engine_compare_and_swap(int target, uint64_t offset, rg_array_type type, int64_t compare,
                                int64_t value, int64_t *found) {
  size_t size;
  integer is = pack_integer(type, compare), set = pack_integer(type, value), was = {0};
  MPI_Datatype mpi = rgi_scalar_mpi_type(type, &size);
  if (rgi_daemon_transport_is_used())
    return rgi_daemon_transport_word("rg_array_compare_and_swap", RGI_QUERY_COMPARE_SWAP, target,
                                     offset, type, compare, value, found);
  RGI_TRY(wait_before(target, offset));
  MPI_Compare_and_swap(&set, &is, &was, mpi, target, (MPI_Aint)offset, rgi_rma.window);
  MPI_Win_flush(target, rgi_rma.window);
  RGI_TRY(rgi_armci_window_error("rg_array_compare_and_swap"));
  *found = unpack_integer(type, was);
  return RG_SUCCESS;
}

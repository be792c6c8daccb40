/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Barrier and broadcast, as the user calls them. */
#include "base/error.h"
#include "collectives/calls/call.h"
#include "collectives/calls/fast_path.h"

int rg_barrier(rg_group g) {
  rgi_shared_state *state = rgi_fast_path(RG_OP_BARRIER, g, 1, g, 1, 0);
  if (state)
    return rgi_node_coll_barrier(state, __func__);
  rgi_call call;
  rgi_call_begin(&call, RG_OP_BARRIER, g, 0);
  return rgi_call_run(&call, __func__);
}

int rg_ibarrier(rg_group g, rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_BARRIER, g, 0);
  return rgi_call_start(&call, __func__, request);
}

int rg_bcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root) {
  size_t size = rgi_datatype_basic_size(type);
  rgi_shared_state *state = rgi_fast_path(RG_OP_BCAST, g, count, buffer, size, root);
  if (state)
    return rgi_node_coll_bcast(state, buffer, (size_t)count * size, root, __func__);
  rgi_call call;
  rgi_call_begin(&call, RG_OP_BCAST, g, root);
  rgi_call_block(&call.recv, buffer, count, type);
  return rgi_call_run(&call, __func__);
}

int rg_ibcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root,
              rg_request *request) {
  rgi_call call;
  rgi_call_begin(&call, RG_OP_BCAST, g, root);
  rgi_call_block(&call.recv, buffer, count, type);
  return rgi_call_start(&call, __func__, request);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Barrier and broadcast, as the user calls them. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/fast_path.h"

static rgi_call barrier_call(rg_group g) {
  return (rgi_call){.operation = RG_OP_BARRIER, .group = g};
}

int rg_barrier(rg_group g) {
  rgi_shared_state *l = rgi_fast_path(g, 1, g, 1, 0);
  if (l)
    return rgi_shm_coll_barrier(l, __func__);
  rgi_call c = barrier_call(g);
  return rgi_call_run(&c, __func__);
}

int rg_ibarrier(rg_group g, rg_request *request) {
  rgi_call c = barrier_call(g);
  return rgi_call_start(&c, __func__, request);
}

static rgi_call bcast_call(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root) {
  return (rgi_call){.operation = RG_OP_BCAST,
                    .group = g,
                    .root = root,
                    .recv = rgi_call_block(buffer, count, type)};
}

int rg_bcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root) {
  size_t size = rgi_datatype_basic_size(type);
  rgi_shared_state *l = rgi_fast_path(g, count, buffer, size, root);
  if (l)
    return rgi_shm_coll_bcast(l, buffer, (size_t)count * size, root, __func__);
  rgi_call c = bcast_call(g, buffer, count, type, root);
  return rgi_call_run(&c, __func__);
}

int rg_ibcast(rg_group g, void *buffer, MPI_Count count, MPI_Datatype type, int root,
              rg_request *request) {
  rgi_call c = bcast_call(g, buffer, count, type, root);
  return rgi_call_start(&c, __func__, request);
}

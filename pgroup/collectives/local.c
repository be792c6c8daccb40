/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Barrier and broadcast inside a node. */
#include "collectives/local.h"

#include <string.h>

#include "base/error.h"
#include "collectives/seats.h"

static int barrier(rgi_local *l, const char *call) {
  RGI_TRY(rgi_step_begin(l, call));
  RGI_TRY(rgi_step_meet(l, call));
  rgi_step_end(l);
  return RG_SUCCESS;
}

int rgi_local_barrier(rgi_local *l, const char *call) {
  l->bytes = 0;
  return l->n == 1 ? RG_SUCCESS : rgi_step_result(l, barrier(l, call));
}

/* One step: the root's data go to all, tiny ones in its cell. */
static int bcast_step(rgi_local *l, char *data, size_t bytes, int root, const char *call) {
  int tiny = bytes <= RGI_TINY;
  RGI_TRY(rgi_step_begin(l, call));
  if (l->me == root) {
    if (!tiny)
      memcpy(rgi_chunk_of(l, root, l->step), data, bytes);
    rgi_step_show(l, data, tiny ? bytes : 0);
    if (!rgi_spare())
      rgi_step_release(l);
  } else {
    RGI_TRY(rgi_spare() ? rgi_step_see(l, root, call) : rgi_step_await_release(l, root, call));
    RGI_TRY(rgi_step_fits(l, root, l->step, call));
    memcpy(data, tiny ? rgi_cell_of(l, root)->data : rgi_chunk_of(l, root, l->step), bytes);
  }
  rgi_step_end(l);
  return RG_SUCCESS;
}

static int bcast(rgi_local *l, void *data, size_t bytes, int root, const char *call) {
  l->bytes = (uint32_t)bytes;
  if (bytes > RGI_TINY)
    RGI_TRY(rgi_board_attach(l));
  for (size_t at = 0; at < bytes; at += RGI_CHUNK) {
    size_t left = bytes - at;
    RGI_TRY(bcast_step(l, (char *)data + at, left < RGI_CHUNK ? left : RGI_CHUNK, root, call));
  }
  return RG_SUCCESS;
}

int rgi_local_bcast(rgi_local *l, void *data, size_t bytes, int root, const char *call) {
  return l->n == 1 || bytes == 0 ? RG_SUCCESS
                                 : rgi_step_result(l, bcast(l, data, bytes, root, call));
}

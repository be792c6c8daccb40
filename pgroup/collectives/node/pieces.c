/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A step in which every member gives a piece to each other one: they lie side by side in its chunk
 * of the shared buffer, and a barrier stands between writing and reading. A member's piece for
 * itself stays where it is. */

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/shared/lines_count.h"

int rgi_node_coll_give_pieces(rgi_shared_state *l, rgi_node_coll_pieces *p) {
  RGI_TRY(rgi_step_begin(l, 1, p->call));
  p->step = l->step;
  char *chunk = rgi_step_chunk(l, l->me, p->step);
  for (int i = 0; i < l->n; i++)
    if (i != l->me)
      rgi_copy_block(chunk + (size_t)i * p->bytes, p->in + (size_t)i * p->stride, p->bytes);
  RGI_TRY(rgi_step_barrier(l, p->call));
  RGI_TRY(rgi_step_check_all(l, p->step, p->call));
  RGI_LINES_COUNT_READ((size_t)(l->n - 1) * RGI_LINES_COUNT_OF(p->bytes));
  return RG_SUCCESS;
}

const char *rgi_node_coll_piece(rgi_shared_state *l, const rgi_node_coll_pieces *p, int i) {
  size_t me = (size_t)l->me;
  return i == l->me ? p->in + me * p->stride : rgi_step_chunk(l, i, p->step) + me * p->bytes;
}

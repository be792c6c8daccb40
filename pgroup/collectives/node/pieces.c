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

int rgi_node_coll_give_pieces(rgi_shared_state *state, rgi_node_coll_pieces *pieces) {
  RGI_TRY(rgi_step_begin(state, 1, pieces->call));
  pieces->step = state->step;
  char *chunk = rgi_step_chunk(state, state->me, pieces->step);
  for (int i = 0; i < state->n; i++)
    if (i != state->me)
      rgi_copy_block(chunk + (size_t)i * pieces->bytes, pieces->in + (size_t)i * pieces->stride,
                     pieces->bytes);
  RGI_TRY(rgi_step_barrier(state, pieces->call));
  RGI_TRY(rgi_step_check_all(state, pieces->step, pieces->call));
  RGI_LINES_COUNT_READ((size_t)(state->n - 1) * RGI_LINES_COUNT_OF(pieces->bytes));
  return RG_SUCCESS;
}

const char *rgi_node_coll_piece(rgi_shared_state *state, const rgi_node_coll_pieces *pieces,
                                int i) {
  size_t me = (size_t)state->me;
  return i == state->me ? pieces->in + me * pieces->stride
                        : rgi_step_chunk(state, i, pieces->step) + me * pieces->bytes;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Ghost cells. Every member gets the two slabs of its halo in each dimension by non-blocking gets,
 * and then waits for all of them. The slabs of a dimension have ghosts in the dimensions behind it,
 * and none in those before it, so that every ghost cell is in exactly one slab, corners included.
 */
#include <regroup/array_math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "distribution/piece.h"
#include "math/own.h"

/* The caller's block, its memory, and the gets for its ghosts. */
typedef struct {
  rg_array a;
  rgi_piece block;
  char *memory; /* of block.lo */
  int64_t stride[RG_ARRAY_MAX_DIMS];
  rg_request *requests;
  int n;
  int64_t room;
  int64_t lo[RG_ARRAY_MAX_DIMS], hi[RG_ARRAY_MAX_DIMS];   /* the slab that is being got */
  int64_t from[RG_ARRAY_MAX_DIMS], to[RG_ARRAY_MAX_DIMS]; /* where its elements are (get_from) */
} ghost_halo;

static int start_get(ghost_halo *halo, const int64_t lo[], const int64_t hi[], char *to) {
  RGI_TRY(rgi_grow(&halo->requests, halo->n, &halo->room, sizeof *halo->requests,
                   "rg_array_update_ghosts: no memory for %lld requests"));
  halo->requests[halo->n] = NULL;
  return rg_array_iget(halo->a, lo, hi, to, halo->block.ld, &halo->requests[halo->n++]);
}

/* Gets the elements for the slab's ghosts. In the dimensions before d, from and to are already
 * indices of the array. Ghosts beyond a periodic edge, perhaps several times around, are cut
 * there. */
static int get_from(ghost_halo *halo, int d, char *at) {
  const rgi_distribution *layout = &halo->a->d;
  if (d == layout->dims)
    return start_get(halo, halo->from, halo->to, at);
  int64_t extent = layout->shape[d], step = halo->stride[d] * (int64_t)halo->a->element;
  for (int64_t i = halo->lo[d], last = halo->hi[d], end; i < last; i = end) {
    int64_t there = layout->periodic[d] ? ((i % extent) + extent) % extent : i;
    end = i + (extent - there) < last ? i + (extent - there) : last;
    if (there < 0) { /* beyond an edge that is not periodic */
      end = last < 0 ? last : 0;
      continue;
    }
    if (there >= extent)
      break;
    halo->from[d] = there;
    halo->to[d] = there + (end - i);
    RGI_TRY(get_from(halo, d + 1, at + (i - halo->block.lo[d]) * step));
  }
  return RG_SUCCESS;
}

/* The slabs of the halo on both sides of the block in dimension d. */
static int get_slabs(ghost_halo *halo, int d) {
  const rgi_distribution *layout = &halo->a->d;
  for (int i = 0; i < layout->dims; i++) {
    halo->lo[i] = halo->block.lo[i] - (i > d ? layout->ghosts[i] : 0);
    halo->hi[i] = halo->block.hi[i] + (i > d ? layout->ghosts[i] : 0);
  }
  halo->hi[d] = halo->block.lo[d];
  halo->lo[d] = halo->hi[d] - layout->ghosts[d];
  RGI_TRY(get_from(halo, 0, halo->memory));
  halo->lo[d] = halo->block.hi[d];
  halo->hi[d] = halo->lo[d] + layout->ghosts[d];
  return get_from(halo, 0, halo->memory);
}

static int update_halo(const rgi_operand *operand) {
  ghost_halo h = {.a = operand->a};
  rgi_pieces own;
  int error = RG_SUCCESS;
  rgi_own_start(&own, operand);
  if (!rgi_pieces_next(&own, &h.block))
    return RG_SUCCESS;
  h.memory = rgi_own_memory(operand, &h.block);
  rgi_piece_strides(operand->a->d.dims, h.block.ld, h.stride);
  for (int d = 0; d < operand->a->d.dims && !error; d++)
    if (operand->a->d.ghosts[d])
      error = get_slabs(&h, d);
  int end = h.n ? rg_wait_all(h.n, h.requests, NULL) : RG_SUCCESS;
  free(h.requests);
  return error ? error : end;
}

int rg_array_update_ghosts(rg_array a) {
  rgi_operand operand;
  int any = 0;
  RGI_TRY(rgi_operand_make(__func__, a, NULL, NULL, &operand));
  for (int d = 0; d < a->d.dims; d++)
    any = any || a->d.ghosts[d] > 0;
  RGI_TRY(rgi_operands_begin(__func__, 1, &operand));
  return rgi_operands_end(__func__, 1, &operand, any ? update_halo(&operand) : RG_SUCCESS);
}

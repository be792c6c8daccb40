/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Reduce-scatter inside a node. In each step every member gives a piece to each other one
 * (pieces.c), and combines those for it, from the last member's to the first one's as all
 * reductions do, in its own result: so each step has one barrier, and no member reads results.
 * Where that is not possible the whole vector is reduced on all members.
 *
 * Long blocks, where each process has a processor: a member reads those for it from the others'
 * memory instead, a piece of each, into its part of the shared buffer. */
#include <stdlib.h>

#include "base/copy.h"
#include "base/error.h"
#include "collectives/node/node_coll.h"
#include "collectives/node/step.h"
#include "collectives/reduction/op_apply.h"

/* Elements [at, at + n) of each block. */
static int combine_step(rgi_shared_state *l, const rgi_node_coll_reduction *r, size_t at,
                        size_t n) {
  char *out = (char *)r->out + at * r->size;
  rgi_node_coll_pieces p = {(const char *)r->in + at * r->size, r->count * r->size, n * r->size,
                            r->call, 0};
  RGI_TRY(rgi_node_coll_give_pieces(l, &p));
  rgi_copy_block(out, rgi_node_coll_piece(l, &p, l->n - 1), p.bytes);
  for (int i = l->n - 2; i >= 0; i--)
    RGI_TRY(rgi_op_apply(rgi_node_coll_piece(l, &p, i), out, n, r->type, r->op));
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* Elements [at, at + n) of the caller's block on each member, which has published where its vector
 * is. That was in the operation's first step: all have ended those before, and no member reads the
 * caller's part. */
static int read_and_combine(rgi_shared_state *l, const rgi_node_coll_reduction *r, size_t at,
                            size_t n) {
  size_t bytes = n * r->size, begin = ((size_t)l->me * r->count + at) * r->size;
  char *part = rgi_step_part(l, l->me), *out = (char *)r->out + at * r->size;
  rgi_copy_block(part + (size_t)l->me * bytes, (const char *)r->in + begin, bytes);
  for (int k = 1; k < l->n; k++) {
    int i = (l->me + k) % l->n;
    rgi_node_coll_offer *offer;
    RGI_TRY(rgi_node_coll_offer_of(l, i, r->count * r->size, r->call, &offer));
    RGI_TRY(rgi_node_coll_read_member(l, i, offer->address + begin, part + (size_t)i * bytes, bytes,
                                      r->call));
  }
  rgi_copy_block(out, part + (size_t)(l->n - 1) * bytes, bytes);
  for (int i = l->n - 2; i >= 0; i--)
    RGI_TRY(rgi_op_apply(part + (size_t)i * bytes, out, n, r->type, r->op));
  return RG_SUCCESS;
}

/* Of elements; 0: the members give their pieces, as two do faster in any case. Shorter pieces are
 * not worth a system call each. */
static size_t direct_piece(const rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  size_t piece = RGI_SHM_CHUNKS * RGI_SHM_CHUNK / (size_t)l->n;
  int may = l->n > 2 && rgi_step_can_spin() && piece >= RGI_NODE_COLL_DIRECT_LEAST &&
            rgi_node_coll_direct(r->count * r->size, RGI_NODE_COLL_DIRECT_LEAST);
  return may ? piece / r->size : 0;
}

static int run_direct(rgi_shared_state *l, const rgi_node_coll_reduction *r, size_t piece) {
  RGI_TRY(rgi_step_begin(l, 0, r->call));
  const rgi_node_coll_offer mine = rgi_node_coll_offer_make(l, r->in, r->count * r->size);
  rgi_step_publish(l, &mine, sizeof mine);
  for (int k = 1; k < l->n; k++)
    RGI_TRY(rgi_step_await_member(l, (l->me + k) % l->n, r->call));
  RGI_TRY(rgi_step_check_all(l, l->step, r->call));
  for (size_t at = 0; at < r->count; at += piece) {
    size_t left = r->count - at;
    RGI_TRY(read_and_combine(l, r, at, left < piece ? left : piece));
  }
  rgi_step_end(l);
  return rgi_step_await_ended(l, r->call);
}

/* The sum of all blocks on all members; each takes its own. */
static int reduce_all(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  size_t block = r->count * r->size;
  rgi_node_coll_reduction all = *r;
  _Alignas(16) char tiny[RGI_SHM_TINY];
  int is_tiny = block <= RGI_SHM_TINY / (size_t)l->n;
  char *sum = is_tiny ? tiny : malloc((size_t)l->n * block);
  if (!sum) /* the others must not wait for this member */
    return rgi_step_result(l, rgi_error(RG_ERR_NOMEM, "%s: no memory for %d blocks of %zu bytes",
                                        r->call, l->n, block));
  all.out = sum;
  all.count = (size_t)l->n * r->count;
  all.root = RGI_NODE_COLL_ALL;
  int error = rgi_node_coll_reduce(l, &all);
  if (!error)
    rgi_copy_block(r->out, sum + (size_t)l->me * block, block);
  if (!is_tiny)
    free(sum);
  return error;
}

static int run_steps(rgi_shared_state *l, const rgi_node_coll_reduction *r, size_t piece) {
  size_t direct = direct_piece(l, r);
  if (direct > 0)
    return run_direct(l, r, direct);
  for (size_t at = 0; at < r->count; at += piece) {
    size_t left = r->count - at;
    RGI_TRY(combine_step(l, r, at, left < piece ? left : piece));
  }
  return RG_SUCCESS;
}

int rgi_node_coll_reduce_scatter(rgi_shared_state *l, const rgi_node_coll_reduction *r) {
  if (r->count == 0 || r->size == 0)
    return RG_SUCCESS;
  size_t all = (size_t)l->n * r->count * r->size, piece = 0;
  if (l->n == 1) {
    if (r->in != r->out)
      rgi_copy_block(r->out, r->in, all);
    return RG_SUCCESS;
  }
  if (!r->whole && all > RGI_SHM_TINY)
    piece = RGI_SHM_CHUNK / ((size_t)l->n * r->size);
  if (piece == 0)
    return reduce_all(l, r);
  l->bytes = (uint32_t)all;
  RGI_TRY(rgi_step_result(l, rgi_step_attach_buffer(l, all, r->call)));
  return l->buffer ? rgi_step_result(l, run_steps(l, r, piece)) : reduce_all(l, r);
}

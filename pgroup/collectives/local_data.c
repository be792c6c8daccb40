/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gather, scatter, allgather and all-to-all inside a node: through the board,
 * chunk by chunk. */
#include <string.h>

#include "base/error.h"
#include "collectives/local.h"
#include "collectives/seats.h"

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Everybody shows n bytes; who takes reads all blocks of it. */
static int gather_step(rgi_local *l, const char *in, size_t n, char *out, size_t stride, int takes,
                       const char *call) {
  int tiny = n <= RGI_TINY;
  RGI_TRY(rgi_step_begin(l, call));
  if (!tiny)
    memcpy(rgi_chunk_of(l, l->me, l->step), in, n);
  uint32_t step = l->step;
  rgi_step_show(l, in, tiny ? n : 0);
  if (!rgi_spare() && rgi_step_arrive(l))
    rgi_bell_wake(&l->seats->arrived[step % RGI_DEPTH]);
  if (takes && !rgi_spare())
    RGI_TRY(rgi_step_await_all(l, call));
  for (int i = 0; i < l->n && takes; i++) {
    if (rgi_spare() && i != l->me)
      RGI_TRY(rgi_step_see(l, i, call));
    RGI_TRY(rgi_step_fits(l, i, step, call));
    memcpy(out + (size_t)i * stride, tiny ? rgi_cell_of(l, i)->data : rgi_chunk_of(l, i, step), n);
  }
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* in may be the caller's own block of out: it is read before anything is
 * written there. */
static int gather(rgi_local *l, const void *in, size_t bytes, void *out, int takes,
                  const char *call) {
  if (bytes == 0)
    return RG_SUCCESS;
  l->bytes = (uint32_t)bytes;
  if (bytes > RGI_TINY)
    RGI_TRY(rgi_board_attach(l));
  for (size_t at = 0; at < bytes; at += RGI_CHUNK)
    RGI_TRY(gather_step(l, (const char *)in + at, least(RGI_CHUNK, bytes - at),
                        takes ? (char *)out + at : NULL, bytes, takes, call));
  return RG_SUCCESS;
}

int rgi_local_gather(rgi_local *l, const void *in, size_t bytes, void *out, int root,
                     const char *call) {
  return rgi_step_result(l, gather(l, in, bytes, out, l->me == root, call));
}

int rgi_local_allgather(rgi_local *l, const void *in, size_t bytes, void *out, const char *call) {
  return rgi_step_result(l, gather(l, in, bytes, out, 1, call));
}

/* A piece of everybody's block lies in the root's chunk, side by side. */
static int scatter_step(rgi_local *l, const char *in, size_t stride, size_t n, char *out, int root,
                        const char *call) {
  RGI_TRY(rgi_step_begin(l, call));
  char *chunk = rgi_chunk_of(l, root, l->step);
  if (l->me == root) {
    for (int i = 0; i < l->n; i++)
      memcpy(chunk + (size_t)i * n, in + (size_t)i * stride, n);
    rgi_step_show(l, NULL, 0);
    if (!rgi_spare())
      rgi_step_release(l);
  } else {
    RGI_TRY(rgi_spare() ? rgi_step_see(l, root, call) : rgi_step_await_release(l, root, call));
    RGI_TRY(rgi_step_fits(l, root, l->step, call));
  }
  memcpy(out, chunk + (size_t)l->me * n, n);
  rgi_step_end(l);
  return RG_SUCCESS;
}

/* How much of a block fits when a chunk holds a piece for each member. */
static int piece_of(const rgi_local *l, const char *call, size_t *piece) {
  *piece = RGI_CHUNK / (size_t)l->n;
  return *piece ? RG_SUCCESS
                : rgi_error(RG_ERR_UNSUPPORTED, "%s: %d processes on one node are too many", call,
                            l->n);
}

static int scatter(rgi_local *l, const void *in, size_t bytes, void *out, int root,
                   const char *call) {
  size_t piece;
  l->bytes = (uint32_t)bytes;
  RGI_TRY(piece_of(l, call, &piece));
  RGI_TRY(rgi_board_attach(l));
  for (size_t at = 0; at < bytes; at += piece)
    RGI_TRY(scatter_step(l, l->me == root ? (const char *)in + at : NULL, bytes,
                         least(piece, bytes - at), (char *)out + at, root, call));
  return RG_SUCCESS;
}

/* Of one member: no shared memory. */
static int alone(const void *in, size_t bytes, void *out) {
  if (bytes)
    memmove(out, in, bytes);
  return RG_SUCCESS;
}

int rgi_local_scatter(rgi_local *l, const void *in, size_t bytes, void *out, int root,
                      const char *call) {
  if (l->n == 1 || bytes == 0)
    return alone(in, bytes, out);
  return rgi_step_result(l, scatter(l, in, bytes, out, root, call));
}

static int alltoall_step(rgi_local *l, const char *in, size_t stride, size_t n, char *out,
                         const char *call) {
  RGI_TRY(rgi_step_begin(l, call));
  uint32_t step = l->step;
  for (int i = 0; i < l->n; i++)
    memcpy(rgi_chunk_of(l, l->me, step) + (size_t)i * n, in + (size_t)i * stride, n);
  RGI_TRY(rgi_step_meet(l, call));
  RGI_TRY(rgi_step_all_fit(l, step, call));
  for (int i = 0; i < l->n; i++)
    memcpy(out + (size_t)i * stride, rgi_chunk_of(l, i, step) + (size_t)l->me * n, n);
  rgi_step_end(l);
  return RG_SUCCESS;
}

static int alltoall(rgi_local *l, const void *in, size_t bytes, void *out, const char *call) {
  size_t piece;
  l->bytes = (uint32_t)bytes;
  RGI_TRY(piece_of(l, call, &piece));
  RGI_TRY(rgi_board_attach(l));
  for (size_t at = 0; at < bytes; at += piece)
    RGI_TRY(alltoall_step(l, (const char *)in + at, bytes, least(piece, bytes - at),
                          (char *)out + at, call));
  return RG_SUCCESS;
}

int rgi_local_alltoall(rgi_local *l, const void *in, size_t bytes, void *out, const char *call) {
  if (l->n == 1 || bytes == 0)
    return alone(in, bytes, out);
  return rgi_step_result(l, alltoall(l, in, bytes, out, call));
}

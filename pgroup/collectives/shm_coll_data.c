/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gather, scatter, allgather and all-to-all inside a node: through the shared buffer, chunk
 * by chunk, one step for each. Gather and allgather: each member publishes a chunk of its
 * block and the receivers copy all of them. Scatter: the root's chunk holds a piece for each
 * member. All-to-all: each member's chunk holds a piece for each other one, and a barrier
 * stands between writing and reading. */
#include <string.h>

#include "base/error.h"
#include "collectives/shm_coll.h"
#include "collectives/shm_step.h"

static size_t smaller_of(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Every member publishes n bytes; a receiver reads them all. */
static int gather_step(rgi_shared_state *l, const char *in, size_t n, char *out, size_t stride,
                       int is_receiver, const char *call) {
  int tiny = n <= RGI_SHM_TINY;
  RGI_TRY(rgi_shm_step_begin(l, call));
  if (!tiny)
    memcpy(rgi_shm_step_chunk(l, l->me, l->step), in, n);
  uint32_t step = l->step;
  rgi_shm_step_publish(l, in, tiny ? n : 0);
  if (!rgi_shm_step_can_spin() && rgi_shm_step_arrive(l))
    rgi_bell_wake(&l->memory->arrived[step % RGI_SHM_DEPTH]);
  if (is_receiver && !rgi_shm_step_can_spin())
    RGI_TRY(rgi_shm_step_await_all(l, call));
  for (int i = 0; i < l->n && is_receiver; i++) {
    if (rgi_shm_step_can_spin() && i != l->me)
      RGI_TRY(rgi_shm_step_await_member(l, i, call));
    RGI_TRY(rgi_shm_step_check_length(l, i, step, call));
    memcpy(out + (size_t)i * stride,
           tiny ? rgi_shm_step_cell(l, i)->data : rgi_shm_step_chunk(l, i, step), n);
  }
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

/* in may be the caller's own block of out: it is read before anything is
 * written there. */
static int run_gather(rgi_shared_state *l, const void *in, size_t bytes, void *out, int is_receiver,
                      const char *call) {
  if (bytes == 0)
    return RG_SUCCESS;
  l->bytes = (uint32_t)bytes;
  if (bytes > RGI_SHM_TINY)
    RGI_TRY(rgi_shared_state_attach_buffer(l));
  for (size_t at = 0; at < bytes; at += RGI_SHM_CHUNK)
    RGI_TRY(gather_step(l, (const char *)in + at, smaller_of(RGI_SHM_CHUNK, bytes - at),
                        is_receiver ? (char *)out + at : NULL, bytes, is_receiver, call));
  return RG_SUCCESS;
}

int rgi_shm_coll_gather(rgi_shared_state *l, const void *in, size_t bytes, void *out, int root,
                        const char *call) {
  return rgi_shm_step_result(l, run_gather(l, in, bytes, out, l->me == root, call));
}

int rgi_shm_coll_allgather(rgi_shared_state *l, const void *in, size_t bytes, void *out,
                           const char *call) {
  return rgi_shm_step_result(l, run_gather(l, in, bytes, out, 1, call));
}

/* The root's chunk holds a piece of each member's block, side by side. */
static int scatter_step(rgi_shared_state *l, const char *in, size_t stride, size_t n, char *out,
                        int root, const char *call) {
  RGI_TRY(rgi_shm_step_begin(l, call));
  char *chunk = rgi_shm_step_chunk(l, root, l->step);
  if (l->me == root) {
    for (int i = 0; i < l->n; i++)
      memcpy(chunk + (size_t)i * n, in + (size_t)i * stride, n);
    rgi_shm_step_publish(l, NULL, 0);
    if (!rgi_shm_step_can_spin())
      rgi_shm_step_release(l);
  } else {
    RGI_TRY(rgi_shm_step_can_spin() ? rgi_shm_step_await_member(l, root, call)
                                    : rgi_shm_step_await_release(l, root, call));
    RGI_TRY(rgi_shm_step_check_length(l, root, l->step, call));
  }
  memcpy(out, chunk + (size_t)l->me * n, n);
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

/* How much of a block fits when a chunk holds a piece for each member. */
static int piece_of(const rgi_shared_state *l, const char *call, size_t *piece) {
  *piece = RGI_SHM_CHUNK / (size_t)l->n;
  return *piece ? RG_SUCCESS
                : rgi_error(RG_ERR_UNSUPPORTED, "%s: %d processes on one node are too many", call,
                            l->n);
}

static int run_scatter(rgi_shared_state *l, const void *in, size_t bytes, void *out, int root,
                       const char *call) {
  size_t piece;
  l->bytes = (uint32_t)bytes;
  RGI_TRY(piece_of(l, call, &piece));
  RGI_TRY(rgi_shared_state_attach_buffer(l));
  for (size_t at = 0; at < bytes; at += piece)
    RGI_TRY(scatter_step(l, l->me == root ? (const char *)in + at : NULL, bytes,
                         smaller_of(piece, bytes - at), (char *)out + at, root, call));
  return RG_SUCCESS;
}

/* A group of one member needs no shared memory. */
static int copy_alone(const void *in, size_t bytes, void *out) {
  if (bytes)
    memmove(out, in, bytes);
  return RG_SUCCESS;
}

int rgi_shm_coll_scatter(rgi_shared_state *l, const void *in, size_t bytes, void *out, int root,
                         const char *call) {
  if (l->n == 1 || bytes == 0)
    return copy_alone(in, bytes, out);
  return rgi_shm_step_result(l, run_scatter(l, in, bytes, out, root, call));
}

static int alltoall_step(rgi_shared_state *l, const char *in, size_t stride, size_t n, char *out,
                         const char *call) {
  RGI_TRY(rgi_shm_step_begin(l, call));
  uint32_t step = l->step;
  for (int i = 0; i < l->n; i++)
    memcpy(rgi_shm_step_chunk(l, l->me, step) + (size_t)i * n, in + (size_t)i * stride, n);
  RGI_TRY(rgi_shm_step_barrier(l, call));
  RGI_TRY(rgi_shm_step_check_all(l, step, call));
  for (int i = 0; i < l->n; i++)
    memcpy(out + (size_t)i * stride, rgi_shm_step_chunk(l, i, step) + (size_t)l->me * n, n);
  rgi_shm_step_end(l);
  return RG_SUCCESS;
}

static int run_alltoall(rgi_shared_state *l, const void *in, size_t bytes, void *out,
                        const char *call) {
  size_t piece;
  l->bytes = (uint32_t)bytes;
  RGI_TRY(piece_of(l, call, &piece));
  RGI_TRY(rgi_shared_state_attach_buffer(l));
  for (size_t at = 0; at < bytes; at += piece)
    RGI_TRY(alltoall_step(l, (const char *)in + at, bytes, smaller_of(piece, bytes - at),
                          (char *)out + at, call));
  return RG_SUCCESS;
}

int rgi_shm_coll_alltoall(rgi_shared_state *l, const void *in, size_t bytes, void *out,
                          const char *call) {
  if (l->n == 1 || bytes == 0)
    return copy_alone(in, bytes, out);
  return rgi_shm_step_result(l, run_alltoall(l, in, bytes, out, call));
}

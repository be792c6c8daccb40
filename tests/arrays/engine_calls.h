/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The engine's operations, one function for each form, for tests and measurements. */
#ifndef ENGINE_CALLS_H
#define ENGINE_CALLS_H

#include "engine/engine.h"

typedef struct {
  int target;
  uint64_t offset;
} engine_place;

static inline int engine_start(rgi_access_kind kind, engine_place at, const void *buffer,
                               const rgi_strided *strided, rgi_engine_handle *handle) {
  rgi_transfer t = {.kind = kind,
                    .target = at.target,
                    .offset = at.offset,
                    .origin = (char *)(uintptr_t)buffer,
                    .type = RG_TYPE_OPAQUE,
                    .patch = *strided};
  return rgi_engine_start(&t, handle);
}

static inline int engine_start_put(int target, uint64_t offset, const void *from,
                                   const rgi_strided *strided, rgi_engine_handle *handle) {
  return engine_start(RGI_ACCESS_KIND_PUT, (engine_place){target, offset}, from, strided, handle);
}

static inline int engine_start_get(int target, uint64_t offset, void *to,
                                   const rgi_strided *strided, rgi_engine_handle *handle) {
  return engine_start(RGI_ACCESS_KIND_GET, (engine_place){target, offset}, to, strided, handle);
}

static inline int engine_start_acc(int target, uint64_t offset, const void *from,
                                   const rgi_strided *strided, rg_array_type type,
                                   const void *alpha, rgi_engine_handle *handle) {
  rgi_transfer t = {.kind = RGI_ACCESS_KIND_ACC,
                    .target = target,
                    .offset = offset,
                    .origin = (char *)(uintptr_t)from,
                    .type = type,
                    .alpha = alpha,
                    .patch = *strided};
  return rgi_engine_start(&t, handle);
}

static inline int engine_move(rgi_access_kind kind, engine_place at, const void *buffer,
                              const rgi_strided *strided) {
  rgi_engine_handle handle;
  rgi_transfer t = {.kind = kind,
                    .target = at.target,
                    .offset = at.offset,
                    .origin = (char *)(uintptr_t)buffer,
                    .type = RG_TYPE_OPAQUE,
                    .patch = *strided,
                    .may_block = 1};
  int error = rgi_engine_start(&t, &handle);
  return error ? error : rgi_engine_wait(&handle);
}

static inline int engine_put(int target, uint64_t offset, const void *from,
                             const rgi_strided *strided) {
  return engine_move(RGI_ACCESS_KIND_PUT, (engine_place){target, offset}, from, strided);
}

static inline int engine_get(int target, uint64_t offset, void *to, const rgi_strided *strided) {
  return engine_move(RGI_ACCESS_KIND_GET, (engine_place){target, offset}, to, strided);
}

static inline int engine_acc(int target, uint64_t offset, const void *from,
                             const rgi_strided *strided, rg_array_type type, const void *alpha) {
  rgi_engine_handle handle;
  int error = engine_start_acc(target, offset, from, strided, type, alpha, &handle);
  return error ? error : rgi_engine_wait(&handle);
}

static inline int engine_fetch_add(int target, uint64_t offset, rg_array_type type,
                                   int64_t increment, int64_t *before) {
  rgi_transfer_word w = {RGI_ACCESS_KIND_FETCH_ADD, target, offset, type, increment, 0};
  return rgi_engine_word(&w, before);
}

static inline int engine_compare_and_swap(int target, uint64_t offset, rg_array_type type,
                                          int64_t compare, int64_t value, int64_t *before) {
  rgi_transfer_word w = {RGI_ACCESS_KIND_COMPARE_SWAP, target, offset, type, compare, value};
  return rgi_engine_word(&w, before);
}

#endif

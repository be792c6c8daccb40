/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Read-increment and compare-and-swap of one element: by processor atomics on one node, else by
 * the engine. Never both on one array, since they are not atomic with one another. */
#include "access/element.h"
#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "engine/engine.h"
#include "onesided/single.h"

/* Where an element of an integer array is. */
typedef struct {
  char *memory; /* one node */
  int rank;
  uint64_t offset; /* several nodes: in the rank's heap part */
} element_place;

static int find_element(const char *call, rg_array a, const int64_t at[], element_place *place) {
  int64_t hi[RG_ARRAY_MAX_DIMS], offset;
  RGI_TRY(rgi_array_check(call, a));
  if (!at)
    return rgi_error(RG_ERR_ARG, "%s: at is NULL", call);
  if (a->type != RG_TYPE_INT32 && a->type != RG_TYPE_INT64)
    return rgi_error(RG_ERR_ARG, "%s: the array is neither RG_TYPE_INT32 nor RG_TYPE_INT64", call);
  for (int d = 0; d < a->d.dims; d++)
    hi[d] = at[d] < INT64_MAX ? at[d] + 1 : at[d];
  RGI_TRY(rgi_distribution_inside(&a->d, call, at, hi));
  place->rank = rgi_distribution_find(&a->d, at, &offset);
  if (a->one_node) {
    place->memory = rgi_array_memory(a, place->rank) + offset * (int64_t)a->element;
    return RG_SUCCESS;
  }
  place->memory = NULL;
  place->offset = a->heap_offsets[place->rank] + (uint64_t)offset * a->element;
  return RG_SUCCESS;
}

static rgi_element_type element_type(rg_array_type type) {
  return type == RG_TYPE_INT64 ? RGI_ELEMENT_INT64 : RGI_ELEMENT_INT32;
}

static __attribute__((noinline)) int read_inc(const char *call, rg_array a, const int64_t at[],
                                              int64_t increment, int64_t *before) {
  element_place p;
  if (!before)
    return rgi_error(RG_ERR_ARG, "%s: before is NULL", call);
  char *here = rgi_single_at(a, at, &p.rank);
  if (here && a->type <= RG_TYPE_INT64) {
    *before = rgi_element_fetch_add(element_type(a->type), here, increment);
    return RG_SUCCESS;
  }
  RGI_TRY(find_element(call, a, at, &p));
  if (!p.memory)
    return rgi_engine_word(&(rgi_transfer_word){.kind = RGI_ACCESS_KIND_FETCH_ADD,
                                                .target = a->world[p.rank],
                                                .offset = p.offset,
                                                .type = a->type,
                                                .a = increment},
                           before);
  *before = rgi_element_fetch_add(element_type(a->type), p.memory, increment);
  return RG_SUCCESS;
}

/* The instruction waits for the element's line, and what follows waits for the instruction. So
 * where several processes increment one element, each step from one increment to the next counts:
 * the path of arrays of one dimension saves no register and does not multiply by the element's
 * size. */
int rg_array_read_inc(rg_array a, const int64_t at[], int64_t increment, int64_t *before) {
  int64_t place;
  char *owner = rgi_array_alive(a) && at && before ? rgi_single_in_line(a, at[0], &place) : NULL;
  if (owner && a->type == RG_TYPE_INT64)
    *before = rgi_element_fetch_add(RGI_ELEMENT_INT64, (int64_t *)(void *)owner + place, increment);
  else if (owner && a->type == RG_TYPE_INT32)
    *before = rgi_element_fetch_add(RGI_ELEMENT_INT32, (int32_t *)(void *)owner + place, increment);
  else
    return read_inc(__func__, a, at, increment, before);
  return RG_SUCCESS;
}

int rg_array_compare_and_swap(rg_array a, const int64_t at[], int64_t compare, int64_t value,
                              int64_t *before) {
  element_place p;
  RGI_REQUIRE(before);
  RGI_TRY(find_element(__func__, a, at, &p));
  if (a->type == RG_TYPE_INT32 && compare != (int32_t)compare) /* no element has such a value */
    return rg_array_read_inc(a, at, 0, before);
  if (!p.memory)
    return rgi_engine_word(&(rgi_transfer_word){.kind = RGI_ACCESS_KIND_COMPARE_SWAP,
                                                .target = a->world[p.rank],
                                                .offset = p.offset,
                                                .type = a->type,
                                                .a = compare,
                                                .b = value},
                           before);
  *before = rgi_element_compare_swap(element_type(a->type), p.memory, compare, value);
  return RG_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gather and scatter of single elements. All indices are checked before the first element is moved.
 * Elements in this node's memory are moved one by one, the others sorted by owner and moved in one
 * operation for each owner. */
#include <stdlib.h>

#include "base/error.h"
#include "distribution/distribution_owner.h"
#include "engine/engine.h"
#include "onesided/access.h"
#include "onesided/single.h"

/* One call's elements. values: read only but for RGI_TRANSFER_GET. */
typedef struct {
  const char *call;
  rg_array a;
  rgi_transfer_kind kind;
  int64_t n;
  const int64_t *at;
  char *values;
  const void *alpha;
} elements;

/* --- checks ------------------------------------ */

static int check_index(const elements *e, int64_t i) {
  const rgi_distribution *d = &e->a->d;
  const int64_t *at = e->at + i * d->dims;
  for (int k = 0; k < d->dims; k++)
    if ((uint64_t)at[k] >= (uint64_t)d->shape[k])
      return rgi_error(RG_ERR_BOUNDS,
                       "%s: element %lld of the list: index %lld in dimension %d; the array has 0 "
                       "to %lld",
                       e->call, (long long)i, (long long)at[k], k, (long long)d->shape[k] - 1);
  return RG_SUCCESS;
}

static int check_elements(const elements *e) {
  RGI_TRY(rgi_array_check(e->call, e->a));
  if (e->kind == RGI_TRANSFER_ACC && e->a->type == RG_TYPE_OPAQUE)
    return rgi_error(RG_ERR_ARG, "%s: an array of RG_TYPE_OPAQUE has no arithmetic", e->call);
  if (e->n < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld elements", e->call, (long long)e->n);
  if (e->n > 0 && (!e->at || !e->values))
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", e->call, e->at ? "values" : "at");
  for (int64_t i = 0; i < e->n; i++)
    RGI_TRY(check_index(e, i));
  return RG_SUCCESS;
}

/* --- in this node's memory ----------------------------------------------------------- */

static char *value_at(const elements *e, int64_t i) {
  return e->values + i * (int64_t)e->a->element;
}

static int move_element(const elements *e, int64_t i, int rank, int64_t offset) {
  static const int64_t one = 1;
  rg_array a = e->a;
  char *at = rgi_array_memory(a, rank) + offset * (int64_t)a->element;
  switch (e->kind) {
  case RGI_TRANSFER_PUT:
    rgi_single_copy(at, value_at(e, i), a->element);
    return RG_SUCCESS;
  case RGI_TRANSFER_GET:
    rgi_single_copy(value_at(e, i), at, a->element);
    return RG_SUCCESS;
  default:
    return rgi_access_accumulate(e->call, a, rank, 1, &one, at, NULL, value_at(e, i), NULL,
                                 e->alpha);
  }
}

static int move_on_node(const elements *e) {
  for (int64_t i = 0; i < e->n; i++) {
    int64_t offset;
    int rank = rgi_distribution_find(&e->a->d, e->at + i * e->a->d.dims, &offset);
    RGI_TRY(move_element(e, i, rank, offset));
  }
  return RG_SUCCESS;
}

/* --- through the engine: the elements sorted by their owners --------------------------- */

typedef struct {
  int64_t *first;    /* of each member, and the end: where its elements are in: */
  uint64_t *offsets; /* in the owner's heap part */
  char **values;
} by_owner;

/* Whether this element goes through the engine. Mapped ones do not, unless they are added to. */
static int sort_one(const elements *e, int64_t i, int *rank, int64_t *offset) {
  *rank = rgi_distribution_find(&e->a->d, e->at + i * e->a->d.dims, offset);
  return e->kind == RGI_TRANSFER_ACC || !e->a->mapped[*rank];
}

static void count_owners(const elements *e, by_owner *b) {
  int rank;
  int64_t offset;
  for (int64_t i = 0; i < e->n; i++)
    if (sort_one(e, i, &rank, &offset))
      b->first[rank + 2]++;
  for (int r = 2; r <= e->a->members + 1; r++)
    b->first[r] += b->first[r - 1];
}

/* Afterwards member r's are first[r] to first[r + 1] - 1. */
static int sort_by_owner(const elements *e, by_owner *b) {
  count_owners(e, b);
  for (int64_t i = 0; i < e->n; i++) {
    int rank;
    int64_t offset;
    if (!sort_one(e, i, &rank, &offset)) {
      RGI_TRY(rgi_array_settle(e->a, rank, offset, 1));
      RGI_TRY(move_element(e, i, rank, offset));
      continue;
    }
    int64_t place = b->first[rank + 1]++;
    b->offsets[place] = e->a->heap_offsets[rank] + (uint64_t)offset * e->a->element;
    b->values[place] = value_at(e, i);
  }
  return RG_SUCCESS;
}

static int transfer_to_owner(const elements *e, const by_owner *b, int rank) {
  rg_array a = e->a;
  int target = a->world[rank];
  int64_t first = b->first[rank], n = b->first[rank + 1] - first;
  const uint64_t *offsets = b->offsets + first;
  char **values = b->values + first;
  const void *const *sources = (const void *const *)values;
  switch (e->kind) {
  case RGI_TRANSFER_PUT:
    return rgi_engine_put_elements(target, n, offsets, sources, a->element);
  case RGI_TRANSFER_GET:
    return rgi_engine_get_elements(target, n, offsets, (void *const *)values, a->element);
  default:
    return rgi_engine_acc_elements(target, n, offsets, sources, a->element, a->type, e->alpha);
  }
}

static int each_owner(const elements *e) {
  size_t n = (size_t)e->n, heads = (size_t)e->a->members + 2;
  char *memory = calloc(heads + 2 * n, sizeof(uint64_t));
  if (!memory)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu elements", e->call, n);
  by_owner b = {.first = (void *)memory,
                .offsets = (void *)(memory + heads * sizeof(uint64_t)),
                .values = (void *)(memory + (heads + n) * sizeof(uint64_t))};
  int error = sort_by_owner(e, &b);
  for (int rank = 0; rank < e->a->members && !error; rank++)
    if (b.first[rank + 1] > b.first[rank])
      error = transfer_to_owner(e, &b, rank);
  free(memory);
  return error;
}

static int move_elements(const elements *e) {
  RGI_TRY(check_elements(e));
  return e->a->one_node ? move_on_node(e) : each_owner(e);
}

int rg_array_gather(rg_array a, int64_t n, const int64_t at[], void *values) {
  elements e = {__func__, a, RGI_TRANSFER_GET, n, at, values, NULL};
  return move_elements(&e);
}

int rg_array_scatter(rg_array a, int64_t n, const int64_t at[], const void *values) {
  elements e = {__func__, a, RGI_TRANSFER_PUT, n, at, rgi_access_buffer(values), NULL};
  return move_elements(&e);
}

int rg_array_scatter_acc(rg_array a, int64_t n, const int64_t at[], const void *values,
                         const void *alpha) {
  elements e = {__func__, a, RGI_TRANSFER_ACC, n, at, rgi_access_buffer(values), alpha};
  return move_elements(&e);
}

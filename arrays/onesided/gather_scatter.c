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

/* One call's elements; the access's buffer holds their values. */
typedef struct {
  rgi_access m;
  int64_t n;
  const int64_t *at;
} element_call;

/* --- checks ------------------------------------ */

static int check_index(const element_call *elements, int64_t i) {
  const rgi_distribution *layout = &elements->m.a->d;
  const int64_t *at = elements->at + i * layout->dims;
  for (int k = 0; k < layout->dims; k++)
    if ((uint64_t)at[k] >= (uint64_t)layout->shape[k])
      return rgi_error(RG_ERR_BOUNDS,
                       "%s: element %lld of the list: index %lld in dimension %d; the array has 0 "
                       "to %lld",
                       elements->m.call, (long long)i, (long long)at[k], k,
                       (long long)layout->shape[k] - 1);
  return RG_SUCCESS;
}

static int check_elements(const element_call *elements) {
  RGI_TRY(rgi_array_check(elements->m.call, elements->m.a));
  if (elements->m.kind == RGI_ACCESS_KIND_ACC && elements->m.a->type == RG_TYPE_OPAQUE)
    return rgi_error(RG_ERR_ARG, "%s: an array of RG_TYPE_OPAQUE has no arithmetic",
                     elements->m.call);
  if (elements->n < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld elements", elements->m.call, (long long)elements->n);
  if (elements->n > INT64_MAX / RG_ARRAY_MAX_DIMS / (int64_t)sizeof *elements->at ||
      (size_t)elements->n > PTRDIFF_MAX / elements->m.a->element) /* before the list is read */
    return rgi_error(RG_ERR_LIMIT, "%s: %lld elements take more than 2^63 bytes", elements->m.call,
                     (long long)elements->n);
  if (elements->n > 0 && (!elements->at || !elements->m.buf))
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", elements->m.call,
                     elements->at ? "values" : "at");
  for (int64_t i = 0; i < elements->n; i++)
    RGI_TRY(check_index(elements, i));
  return RG_SUCCESS;
}

/* --- in this node's memory ----------------------------------------------------------- */

static char *value_at(const element_call *elements, int64_t i) {
  return elements->m.buf + i * (int64_t)elements->m.a->element;
}

static int move_element(const element_call *elements, int64_t i, int rank, int64_t offset) {
  rg_array a = elements->m.a;
  rgi_strided one;
  char *at = rgi_array_memory(a, rank) + offset * (int64_t)a->element;
  switch (elements->m.kind) {
  case RGI_ACCESS_KIND_PUT:
    rgi_single_copy(at, value_at(elements, i), a->element);
    return RG_SUCCESS;
  case RGI_ACCESS_KIND_GET:
    rgi_single_copy(value_at(elements, i), at, a->element);
    return RG_SUCCESS;
  default:
    one = rgi_strided_flat((int64_t)a->element);
    return rgi_access_accumulate(&elements->m, rank, &one, at, value_at(elements, i));
  }
}

static int move_on_node(const element_call *elements) {
  for (int64_t i = 0; i < elements->n; i++) {
    int64_t offset;
    int rank =
        rgi_distribution_find(&elements->m.a->d, elements->at + i * elements->m.a->d.dims, &offset);
    RGI_TRY(move_element(elements, i, rank, offset));
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
static int sort_one(const element_call *elements, int64_t i, int *rank, int64_t *offset) {
  *rank =
      rgi_distribution_find(&elements->m.a->d, elements->at + i * elements->m.a->d.dims, offset);
  return elements->m.kind == RGI_ACCESS_KIND_ACC || !elements->m.a->mapped[*rank];
}

static void count_owners(const element_call *elements, by_owner *owners) {
  int rank;
  int64_t offset;
  for (int64_t i = 0; i < elements->n; i++)
    if (sort_one(elements, i, &rank, &offset))
      owners->first[rank + 2]++;
  for (int r = 2; r <= elements->m.a->members + 1; r++)
    owners->first[r] += owners->first[r - 1];
}

/* Afterwards member r's are first[r] to first[r + 1] - 1. */
static int sort_by_owner(const element_call *elements, by_owner *owners) {
  count_owners(elements, owners);
  for (int64_t i = 0; i < elements->n; i++) {
    int rank;
    int64_t offset;
    if (!sort_one(elements, i, &rank, &offset)) {
      RGI_TRY(rgi_array_settle(elements->m.a, rank, offset, 1));
      RGI_TRY(move_element(elements, i, rank, offset));
      continue;
    }
    int64_t place = owners->first[rank + 1]++;
    owners->offsets[place] =
        elements->m.a->heap_offsets[rank] + (uint64_t)offset * elements->m.a->element;
    owners->values[place] = value_at(elements, i);
  }
  return RG_SUCCESS;
}

static int transfer_to_owner(const element_call *elements, const by_owner *owners, int rank) {
  rg_array a = elements->m.a;
  int64_t first = owners->first[rank];
  return rgi_engine_elements(&(rgi_transfer_elements){.kind = elements->m.kind,
                                                      .target = a->world[rank],
                                                      .n = owners->first[rank + 1] - first,
                                                      .offsets = owners->offsets + first,
                                                      .origin = (void **)(owners->values + first),
                                                      .element = a->element,
                                                      .type = a->type,
                                                      .alpha = elements->m.alpha});
}

static int each_owner(const element_call *elements) {
  size_t n = (size_t)elements->n, heads = (size_t)elements->m.a->members + 2;
  char *memory = calloc(heads + 2 * n, sizeof(uint64_t));
  if (!memory)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu elements", elements->m.call, n);
  by_owner owners = {.first = (void *)memory,
                     .offsets = (void *)(memory + heads * sizeof(uint64_t)),
                     .values = (void *)(memory + (heads + n) * sizeof(uint64_t))};
  int error = sort_by_owner(elements, &owners);
  for (int rank = 0; rank < elements->m.a->members && !error; rank++)
    if (owners.first[rank + 1] > owners.first[rank])
      error = transfer_to_owner(elements, &owners, rank);
  free(memory);
  return error;
}

static int move_elements(const element_call *elements) {
  RGI_TRY(check_elements(elements));
  return elements->m.a->one_node ? move_on_node(elements) : each_owner(elements);
}

int rg_array_gather(rg_array a, int64_t n, const int64_t at[], void *values) {
  element_call e = {{.call = __func__, .a = a, .kind = RGI_ACCESS_KIND_GET, .buf = values}, n, at};
  return move_elements(&e);
}

int rg_array_scatter(rg_array a, int64_t n, const int64_t at[], const void *values) {
  rgi_access access = {
      .call = __func__, .a = a, .kind = RGI_ACCESS_KIND_PUT, .buf = (char *)(uintptr_t)values};
  element_call e = {access, n, at};
  return move_elements(&e);
}

int rg_array_scatter_acc(rg_array a, int64_t n, const int64_t at[], const void *values,
                         const void *alpha) {
  rgi_access access = {.call = __func__,
                       .a = a,
                       .kind = RGI_ACCESS_KIND_ACC,
                       .buf = (char *)(uintptr_t)values,
                       .alpha = alpha};
  element_call e = {access, n, at};
  return move_elements(&e);
}

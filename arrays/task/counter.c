/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A shared counter: an array of one element, which rank 0 owns, and read-increments on it. */
#include <regroup/task.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "object/array.h"

struct rg_counter_s {
  rg_array value;
};

static const int64_t start = 0, end = 1;

/* By steps of so many no number of processes takes a counter around 2^64 at once. */
#define FEW (INT64_C(1) << 32)

static int check_counter(const char *call, rg_counter counter) {
  if (!counter)
    return rgi_error(RG_ERR_ARRAY, "%s: the counter is NULL", call);
  return rgi_array_check(call, counter->value);
}

/* Rank 0 sets the value, between two synchronisations of all members. */
static int set_to_zero(rg_array value) {
  static const int64_t zero = 0;
  RGI_TRY(rg_array_sync(value));
  int code = value->me == 0 ? rg_array_put(value, &start, &end, &zero, NULL) : RG_SUCCESS;
  int synced = rg_array_sync(value);
  return code ? code : synced;
}

int rg_counter_create(rg_group g, rg_counter *counter) {
  RGI_REQUIRE(counter);
  struct rg_counter_s *c = rgi_spare_alloc_zeroed(1, sizeof *c);
  if (!c)
    return rgi_error(RG_ERR_NOMEM, "rg_counter_create: no memory");
  int code = rg_array_create_simple(g, RG_TYPE_INT64, 1, &end, &c->value);
  if (code == RG_SUCCESS)
    code = set_to_zero(c->value);
  if (code != RG_SUCCESS) {
    rg_array_free(&c->value);
    rgi_spare_free(c);
    return code;
  }
  *counter = c;
  return RG_SUCCESS;
}

int rg_counter_free(rg_counter *counter) {
  RGI_REQUIRE(counter);
  if (!*counter)
    return RG_SUCCESS;
  RGI_TRY(rg_array_free(&(*counter)->value));
  rgi_spare_free(*counter);
  *counter = NULL;
  return RG_SUCCESS;
}

static int no_more(int64_t n) {
  return rgi_error(RG_ERR_LIMIT, "rg_counter_next: there are no %lld numbers left", (long long)n);
}

/* So many that few such steps would take the counter around 2^64. */
static int take_many(rg_array value, int64_t n, int64_t *first) {
  int64_t before, seen;
  RGI_TRY(rg_array_read_inc(value, &start, 0, &seen));
  do {
    before = seen;
    if (before < 0 || before > INT64_MAX - n)
      return no_more(n);
    RGI_TRY(rg_array_compare_and_swap(value, &start, before, before + n, &seen));
  } while (seen != before);
  *first = before;
  return RG_SUCCESS;
}

/* What is below 0 has been taken beyond the end, and is given back. */
static int take_few(rg_array value, int64_t n, int64_t *first) {
  int64_t before;
  RGI_TRY(rg_array_read_inc(value, &start, n, &before));
  if (before < 0 || before > INT64_MAX - n) {
    RGI_TRY(rg_array_read_inc(value, &start, -n, &before));
    return no_more(n);
  }
  *first = before;
  return RG_SUCCESS;
}

int rg_counter_next(rg_counter counter, int64_t n, int64_t *first) {
  RGI_REQUIRE(first);
  if (!counter)
    return check_counter(__func__, counter);
  if (n < 1)
    return rgi_error(RG_ERR_ARG, "rg_counter_next: n is %lld; it must be at least 1", (long long)n);
  return n <= FEW ? take_few(counter->value, n, first) : take_many(counter->value, n, first);
}

int rg_counter_reset(rg_counter counter) {
  RGI_TRY(check_counter(__func__, counter));
  return set_to_zero(counter->value);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A shared counter: an array of one element, which rank 0 owns, and read-increments on it. */
#include <regroup/task.h>
#include <stdlib.h>

#include "base/error.h"
#include "object/array.h"

struct rg_counter_s {
  rg_array value;
};

static const int64_t start = 0, end = 1;

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
  struct rg_counter_s *c = calloc(1, sizeof *c);
  if (!c)
    return rgi_error(RG_ERR_NOMEM, "rg_counter_create: no memory");
  int code = rg_array_create_simple(g, RG_TYPE_INT64, 1, &end, &c->value);
  if (code == RG_SUCCESS)
    code = set_to_zero(c->value);
  if (code != RG_SUCCESS) {
    rg_array_free(&c->value);
    free(c);
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
  free(*counter);
  *counter = NULL;
  return RG_SUCCESS;
}

int rg_counter_next(rg_counter counter, int64_t n, int64_t *first) {
  RGI_REQUIRE(first);
  if (!counter)
    return check_counter(__func__, counter);
  if (n < 1)
    return rgi_error(RG_ERR_ARG, "rg_counter_next: n is %lld; it must be at least 1", (long long)n);
  return rg_array_read_inc(counter->value, &start, n, first);
}

int rg_counter_reset(rg_counter counter) {
  RGI_TRY(check_counter(__func__, counter));
  return set_to_zero(counter->value);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Set operations on groups: local. */
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "formation/group.h"
#include "runtime/runtime.h"

/* The members of a that are (keep = 1) or are not (keep = 0) in b, written to
 * ranks; all of a when b is NULL. Returns how many. */
static int filter_members(const rgi_members *a, const rgi_members *b, int keep, int ranks[]) {
  int n = 0;
  for (int i = 0; i < rgi_members_count(a); i++) {
    int rank = rgi_members_at(a, i);
    if (!b || (rgi_members_find(b, rank) >= 0) == keep)
      ranks[n++] = rank;
  }
  return n;
}

static int check_groups(const char *call, rg_group a, rg_group b) {
  RGI_TRY(rgi_runtime_check(call));
  RGI_TRY(rgi_group_check(call, a));
  return rgi_group_check(call, b);
}

/* Fills ranks with the members of the result; returns how many. */
static int combine_members(const rgi_members *a, const rgi_members *b, rgi_context_kind what,
                           int ranks[]) {
  if (what != RGI_CONTEXT_UNION)
    return filter_members(a, b, what == RGI_CONTEXT_INTERSECTION, ranks);
  int n = filter_members(a, NULL, 0, ranks);
  return n + filter_members(b, a, 0, ranks + n);
}

static int combine_groups(const char *call, rg_group a, rg_group b, rgi_context_kind what,
                          rg_group *g) {
  rgi_members *members;
  RGI_TRY(check_groups(call, a, b));
  size_t most = (size_t)rgi_members_count(a->members) + (size_t)rgi_members_count(b->members);
  int *ranks = malloc(most * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu members", call, most);
  int n = combine_members(a->members, b->members, what, ranks);
  int error = n ? rgi_members_list(call, n, ranks, &members) : RG_SUCCESS;
  free(ranks);
  if (!error && n)
    return rgi_group_out_of(a, b, what, members, a->tag, g);
  if (!error)
    *g = NULL;
  return error;
}

int rg_group_union(rg_group a, rg_group b, rg_group *g) {
  RGI_REQUIRE(g);
  return combine_groups(__func__, a, b, RGI_CONTEXT_UNION, g);
}

int rg_group_intersection(rg_group a, rg_group b, rg_group *g) {
  RGI_REQUIRE(g);
  return combine_groups(__func__, a, b, RGI_CONTEXT_INTERSECTION, g);
}

int rg_group_difference(rg_group a, rg_group b, rg_group *g) {
  RGI_REQUIRE(g);
  return combine_groups(__func__, a, b, RGI_CONTEXT_DIFFERENCE, g);
}

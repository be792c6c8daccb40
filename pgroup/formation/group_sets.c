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

static int make_group(const char *call, rg_group a, rg_group b, int n, const int ranks[],
                      rg_group *g) {
  rgi_members *members;
  if (n == 0) {
    *g = NULL;
    return RG_SUCCESS;
  }
  RGI_TRY(rgi_members_list(call, n, ranks, &members));
  return rgi_group_out_of(a, b, members, RGI_CONTEXT_BY_SETS, a->tag, g);
}

/* First members of a, filtered by head and keep (b and keep of filter_members); tail: then the
 * members of b that are not in a. */
static int combine_groups(const char *call, rg_group a, rg_group b, const rgi_members *head,
                          int keep, int tail, rg_group *g) {
  size_t most =
      (size_t)rgi_members_count(a->members) + (tail ? (size_t)rgi_members_count(b->members) : 0);
  int *ranks = malloc(most * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %zu members", call, most);
  int n = filter_members(a->members, head, keep, ranks);
  if (tail)
    n += filter_members(b->members, a->members, 0, ranks + n);
  int error = make_group(call, a, b, n, ranks, g);
  free(ranks);
  return error;
}

int rg_group_union(rg_group a, rg_group b, rg_group *g) {
  RGI_REQUIRE(g);
  RGI_TRY(check_groups(__func__, a, b));
  return combine_groups(__func__, a, b, NULL, 0, 1, g);
}

int rg_group_intersection(rg_group a, rg_group b, rg_group *g) {
  RGI_REQUIRE(g);
  RGI_TRY(check_groups(__func__, a, b));
  return combine_groups(__func__, a, b, b->members, 1, 0, g);
}

int rg_group_difference(rg_group a, rg_group b, rg_group *g) {
  RGI_REQUIRE(g);
  RGI_TRY(check_groups(__func__, a, b));
  return combine_groups(__func__, a, b, b->members, 0, 0, g);
}

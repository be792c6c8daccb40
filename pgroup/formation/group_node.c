/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The nodes of a group's members. */
#include <stdlib.h>

#include "base/error.h"
#include "formation/group.h"
#include "runtime/runtime.h"
#include "shm/node.h"

/* The nodes are known from rg_init to rg_finalize. */
static int check_nodes(const char *call, rg_group g) {
  RGI_TRY(rgi_runtime_check(call));
  return rgi_group_check_epoch(call, g);
}

int rg_group_node(rg_group g, int rank, int *node) {
  RGI_REQUIRE(node);
  RGI_TRY(check_nodes(__func__, g));
  int size = rgi_members_count(g->members);
  if (rank < 0 || rank >= size)
    return rgi_error(RG_ERR_RANK, "%s: rank %d; the group's ranks go from 0 to %d", __func__, rank,
                     size - 1);
  *node = rgi_node_of(rgi_members_at(g->members, rank));
  return RG_SUCCESS;
}

int rg_group_node_count(rg_group g, int *count) {
  int n = 0, size;
  RGI_REQUIRE(count);
  RGI_TRY(check_nodes(__func__, g));
  char *seen = calloc((size_t)rgi_node.count, 1);
  if (!seen)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d nodes", __func__, rgi_node.count);
  size = rgi_members_count(g->members);
  for (int i = 0; i < size; i++) {
    char *at = &seen[rgi_node_of(rgi_members_at(g->members, i))];
    n += !*at;
    *at = 1;
  }
  free(seen);
  *count = n;
  return RG_SUCCESS;
}

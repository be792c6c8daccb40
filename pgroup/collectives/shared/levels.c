/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The levels of a group's members on one node, level by level from below: those that have no parent
 * yet are active. */
#include "collectives/shared/levels.h"

#include <string.h>

#include "base/error.h"
#include "base/spare.h"

/* Gives a parent to all active members but the leaders; key: of each member, less than `keys`;
 * NULL: all have one. Returns how many leaders there are, which stay active. */
static int lead(int active[], int count, const int key[], int keys, int leader[], int led[],
                int parent[]) {
  int leaders = 0;
  memset(led, 0, (size_t)keys * sizeof *led);
  for (int i = 0; i < count; i++) {
    int m = active[i], k = key ? key[m] : 0;
    if (led[k]++ % RGI_LEVELS_FAN == 0)
      active[leaders++] = leader[k] = m;
    else
      parent[m] = leader[k];
  }
  return leaders;
}

/* Numbers the caches and sockets of the members, from 0. */
static int number(int n, const rgi_node_cache at[], int cache[], int socket[]) {
  int most = 0;
  for (int i = 0; i < n; i++) {
    cache[i] = at ? at[i].cache : 0;
    socket[i] = at ? at[i].socket : 0;
    most = cache[i] > most ? cache[i] : most;
    most = socket[i] > most ? socket[i] : most;
  }
  return rgi_node_number(cache, n, most + 1) < 0 || rgi_node_number(socket, n, most + 1) < 0;
}

int rgi_levels_parents(int n, const rgi_node_cache at[], int parent[]) {
  int *memory = rgi_spare_alloc(5 * (size_t)n * sizeof *memory), count = n;
  int *cache = memory, *socket = cache + n, *active = socket + n, *leader = active + n,
      *led = leader + n;
  if (!memory || number(n, at, cache, socket)) {
    rgi_spare_free(memory);
    return rgi_error(RG_ERR_NOMEM, "no memory for the levels of %d members", n);
  }
  for (int i = 0; i < n; i++)
    active[i] = i;
  count = lead(active, count, cache, n, leader, led, parent);
  count = lead(active, count, socket, n, leader, led, parent);
  while (count > 1)
    count = lead(active, count, NULL, 1, leader, led, parent);
  parent[0] = -1;
  rgi_spare_free(memory);
  return RG_SUCCESS;
}

/* The caches of the members; NULL: not known, or no memory. */
static int find_caches(const rgi_members *members, const int ranks[], int n, rgi_node_cache **at) {
  *at = NULL;
  if (!rgi_node.caches)
    return RG_SUCCESS;
  *at = rgi_spare_alloc((size_t)n * sizeof **at);
  if (!*at)
    return rgi_error(RG_ERR_NOMEM, "no memory for the caches of %d members", n);
  for (int i = 0; i < n; i++)
    (*at)[i] = rgi_node.caches[rgi_node_find(rgi_members_at(members, ranks ? ranks[i] : i))];
  return RG_SUCCESS;
}

static rgi_levels *place_of(int me, int n, const int parent[]) {
  int children = 0;
  for (int i = 0; i < n; i++)
    children += parent[i] == me;
  rgi_levels *levels = rgi_spare_alloc(sizeof *levels + (size_t)children * sizeof levels->child[0]);
  if (!levels)
    return NULL;
  *levels = (rgi_levels){.parent = parent[me]};
  for (int i = 0; i < n; i++)
    if (parent[i] == me)
      levels->child[levels->children++] = i;
  return levels;
}

int rgi_levels_make(const rgi_members *members, const int ranks[], int n, int me,
                    rgi_levels **levels) {
  rgi_node_cache *at;
  if (rgi_node.oversubscribed || n <= RGI_NODE_FLAT)
    return RG_SUCCESS;
  RGI_TRY(find_caches(members, ranks, n, &at));
  int *parent = rgi_spare_alloc((size_t)n * sizeof *parent);
  int error = parent ? rgi_levels_parents(n, at, parent) : RG_ERR_NOMEM;
  if (!error)
    *levels = place_of(me, n, parent);
  rgi_spare_free(parent);
  rgi_spare_free(at);
  if (!error && *levels)
    return RG_SUCCESS;
  return rgi_error(RG_ERR_NOMEM, "no memory for the levels of %d members", n);
}

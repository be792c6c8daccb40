/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A process is in a socket, or on a cache, if it is bound within it. All processes that are bound
 * within no L3 cache of a socket count as on one. */
#include "runtime/node_caches.h"

#include <hwloc.h>
#include <stdlib.h>

#include "base/error.h"
#include "machine/machine_process.h"
#include "runtime/gather.h"
#include "shm/node.h"

/* hwloc's numbers; -1: none. */
static rgi_node_cache find_mine(void) {
  rgi_node_cache mine = {-1, -1};
  rgi_machine_place place;
  if (rgi_machine_my_place("rg_init", &place) != RG_SUCCESS)
    return mine;
  for (int i = 0; i < place.length; i++)
    if (place.chain[i].type == HWLOC_OBJ_PACKAGE)
      mine.socket = place.chain[i].index;
    else if (place.chain[i].type == HWLOC_OBJ_L3CACHE)
      mine.cache = place.chain[i].index;
  return mine;
}

/* The number that stands for a cache, or for a socket where there is no cache. */
static int number_of(const rgi_node_cache *cache, int sockets) {
  return cache->cache < 0 ? cache->socket + 1 : sockets + 1 + cache->cache;
}

/* Numbers from 0 on, with gaps. */
static void number_all(rgi_node_cache *all, int n) {
  int sockets = 0;
  for (int i = 0; i < n; i++)
    sockets = all[i].socket >= sockets ? all[i].socket + 1 : sockets;
  for (int i = 0; i < n; i++)
    all[i] = (rgi_node_cache){.socket = all[i].socket + 1, .cache = number_of(&all[i], sockets)};
}

int rgi_node_caches_find(MPI_Comm node) {
  if (rgi_node.oversubscribed || rgi_node.n <= RGI_NODE_FLAT)
    return RG_SUCCESS;
  rgi_node_cache mine = find_mine();
  RGI_TRY(rgi_gather(node, rgi_node.n, "caches", &mine, sizeof mine, &rgi_node.caches));
  number_all(rgi_node.caches, rgi_node.n);
  return RG_SUCCESS;
}

void rgi_node_caches_forget(void) {
  free(rgi_node.caches);
  rgi_node.caches = NULL;
}

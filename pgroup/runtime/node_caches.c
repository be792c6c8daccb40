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
#include "progress/mpi_error.h"
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
static int number_of(const rgi_node_cache *c, int sockets) {
  return c->cache < 0 ? c->socket + 1 : sockets + 1 + c->cache;
}

/* Numbers both from 0. */
static int number_all(rgi_node_cache *all, int n) {
  int sockets = 0, caches = 0, *of = malloc((size_t)n * sizeof *of);
  int error = of ? RG_SUCCESS
                 : rgi_error(RG_ERR_NOMEM, "rg_init: no memory for the caches of %d processes", n);
  for (int i = 0; i < n; i++) {
    sockets = all[i].socket >= sockets ? all[i].socket + 1 : sockets;
    caches = all[i].cache >= caches ? all[i].cache + 1 : caches;
  }
  for (int i = 0; i < n && !error; i++)
    of[i] = number_of(&all[i], sockets);
  if (!error && rgi_node_number(of, n, sockets + caches + 1) < 0)
    error = rgi_error(RG_ERR_NOMEM, "rg_init: no memory for %d caches", caches);
  for (int i = 0; i < n && !error; i++)
    all[i] = (rgi_node_cache){.socket = all[i].socket + 1, .cache = of[i]};
  free(of);
  return error;
}

int rgi_node_caches_find(MPI_Comm node) {
  if (rgi_node.oversubscribed || rgi_node.n <= RGI_NODE_FLAT)
    return RG_SUCCESS;
  rgi_node_cache mine = find_mine(), *all = malloc((size_t)rgi_node.n * sizeof *all);
  if (!all)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for the caches of %d processes", rgi_node.n);
  int error = rgi_mpi_error(MPI_Allgather(&mine, 2, MPI_INT32_T, all, 2, MPI_INT32_T, node),
                            "MPI_Allgather");
  if (!error)
    error = number_all(all, rgi_node.n);
  if (error)
    free(all);
  else
    rgi_node.caches = all;
  return error;
}

void rgi_node_caches_forget(void) {
  free(rgi_node.caches);
  rgi_node.caches = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which members share a node is known to all without a message; the places of those on one node are
 * exchanged by a collective of a group of their own, which makes no communicator. */
#include "topology/group_places.h"

#include <regroup/collectives.h>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/spare.h"
#include "collectives/calls/group_error.h"
#include "machine/machine.h"
#include "shm/node.h"

static void share_places(void *of) {
  rgi_group_places *p = of;
  atomic_fetch_add(&p->holders, 1);
}

static void drop_places(void *of) {
  rgi_group_places *p = of;
  if (atomic_fetch_sub(&p->holders, 1) > 1)
    return;
  rgi_places_release(p->places);
  rgi_spare_free(p);
}

int rgi_group_places_set(const char *call, rg_group g, rgi_places *places,
                         const rgi_group_places *level) {
  rgi_group_places *fresh = places ? rgi_spare_alloc(sizeof *fresh) : NULL;
  if (!fresh) {
    rgi_places_release(places);
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for places", call);
  }
  *fresh = *level;
  fresh->places = places;
  atomic_init(&fresh->holders, 1);
  g->topology = (rgi_group_attachment){fresh, share_places, drop_places};
  return RG_SUCCESS;
}

/* The ranks in g of its members on this node, in memory that the caller frees; *me: the caller's
 * place among them. */
static int *find_neighbours(rg_group g, int *n, int *me) {
  int size = rgi_members_count(g->members);
  int *ranks = rgi_spare_alloc((size_t)(size < rgi_node.n ? size : rgi_node.n) * sizeof *ranks);
  *n = *me = 0;
  for (int r = 0; r < size && ranks; r++)
    if (rgi_node_of(rgi_members_at(g->members, r)) == rgi_node.mine) {
      if (r == g->me)
        *me = *n;
      ranks[(*n)++] = r;
    }
  return ranks;
}

/* What this member needs before any member may wait for it: its place, room for those of its
 * neighbours, and their group. */
static int prepare_exchange(const char *call, rg_group g, rgi_machine_place *mine,
                            rgi_places **places, rg_group *node) {
  rgi_members *members;
  int n, me, error = RG_SUCCESS;
  uint64_t derivation = rgi_group_derive_begin(g);
  RGI_TRY(rgi_options_ready());
  RGI_TRY(rgi_machine_my_place(call, mine));
  mine->rank = g->me;
  int *ranks = find_neighbours(g, &n, &me);
  *places = ranks ? rgi_places_new(rgi_members_count(g->members), n) : NULL;
  if (!*places)
    error = rgi_error(RG_ERR_NOMEM, "%s: no memory for the places of the members here", call);
  if (!error) {
    (*places)->me = me;
    error = rgi_members_pick(call, g->members, n, ranks, &members);
  }
  if (!error)
    error = rgi_group_derive_part(g, derivation, (uint32_t)ranks[0], members, node);
  rgi_spare_free(ranks);
  return error;
}

static int exchange_places(const char *call, rg_group g, rgi_places **places) {
  rgi_machine_place mine = {.length = 0};
  rg_group node = NULL;
  int error = rgi_group_error_share(g, call, prepare_exchange(call, g, &mine, places, &node));
  if (!error)
    error = rg_allgather(node, &mine, sizeof mine, MPI_BYTE, (*places)->at, sizeof mine, MPI_BYTE);
  rg_group_free(&node);
  if (!error && !rgi_places_reconcile(*places) && (*places)->me == 0)
    rgi_log(RGI_LOG_WARN, "%s: processes of this node see different machines: it is not divided",
            call);
  return error;
}

int rgi_group_places_get(const char *call, rg_group g, const rgi_group_places **places) {
  if (!g->topology.of) {
    rgi_places *fresh = NULL;
    int error = exchange_places(call, g, &fresh);
    if (error) {
      rgi_places_release(fresh);
      return error;
    }
    RGI_TRY(rgi_group_places_set(call, g, fresh, &(rgi_group_places){.siblings = 0}));
  }
  *places = g->topology.of;
  return RG_SUCCESS;
}

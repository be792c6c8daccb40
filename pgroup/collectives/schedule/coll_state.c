/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The life of a group's collective state, and where the members are. Nodes are numbered anew in the
 * order of their lowest ranks. A group on one node, the usual case, needs no arrays. */
#include "collectives/schedule/coll_state.h"

#include "base/error.h"
#include "base/spare.h"
#include "formation/group.h"
#include "message/message.h"
#include "shm/node.h"

void rgi_coll_share(rgi_coll *coll) {
  atomic_fetch_add_explicit(&coll->users, 1, memory_order_relaxed);
}

void rgi_coll_drop(rgi_coll *coll) {
  if (atomic_fetch_sub(&coll->users, 1) > 1)
    return;
  if (atomic_load(&coll->failed))
    rgi_message_forget(coll->context);
  rgi_members_drop(coll->members);
  rgi_spare_free(coll->nodes.of);
  rgi_spare_free(coll->lengths);
  rgi_spare_free(coll);
}

/* --- where the members are ------------------------------------------------------- */

static int all_on_my_node(const rgi_members *members, int size) {
  if (rgi_node.count == 1)
    return 1;
  for (int i = 0; i < size; i++)
    if (rgi_node_of(rgi_members_at(members, i)) != rgi_node.mine)
      return 0;
  return 1;
}

static void fill_nodes(rgi_coll_nodes *nodes, int size, int me, int *leaders) {
  for (int i = 0; i <= nodes->count; i++)
    nodes->first[i] = 0;
  for (int r = 0; r < size; r++)
    nodes->first[nodes->of[r] + 1]++;
  for (int i = 0; i < nodes->count; i++)
    nodes->first[i + 1] += nodes->first[i];
  for (int r = size - 1, *end = nodes->first + 1; r >= 0; r--) /* backwards: ascending */
    nodes->by_node[--end[nodes->of[r]]] = r;
  /* Now first[i + 1] is where node i begins. */
  for (int i = 0; i < nodes->count; i++)
    nodes->first[i] = nodes->first[i + 1];
  nodes->first[nodes->count] = size;
  nodes->mine = nodes->of[me];
  nodes->in_order = 1;
  for (int i = 0; i < nodes->count; i++)
    leaders[i] = nodes->by_node[nodes->first[i]];
  for (int r = 0; r < size; r++)
    nodes->in_order &= nodes->by_node[r] == r;
  int *inside = nodes->by_node + nodes->first[nodes->mine],
      here = nodes->first[nodes->mine + 1] - nodes->first[nodes->mine];
  nodes->inside = (rgi_subgroup){here, 0, inside};
  while (inside[nodes->inside.me] != me)
    nodes->inside.me++;
  nodes->leaders = (rgi_subgroup){nodes->count, inside[0] == me ? nodes->mine : -1, leaders};
}

int rgi_coll_nodes_find(const char *call, rg_group g, rgi_coll_nodes *nodes) {
  int size = rgi_members_count(g->members);
  if (all_on_my_node(g->members, size)) {
    *nodes = (rgi_coll_nodes){.count = 1, .in_order = 1, .inside = {size, g->me, NULL}};
    nodes->leaders = (rgi_subgroup){1, g->me == 0 ? 0 : -1, NULL};
    return RG_SUCCESS;
  }
  int *ints = rgi_spare_alloc((4 * (size_t)size + 1) * sizeof *ints);
  for (int i = 0; i < size && ints; i++)
    ints[i] = rgi_node_of(rgi_members_at(g->members, i));
  int count = ints ? rgi_node_number(ints, size, rgi_node.count) : -1;
  if (count < 0) {
    rgi_spare_free(ints);
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, size);
  }
  nodes->of = ints;
  nodes->by_node = ints + size;
  nodes->first = ints + 2 * (size_t)size;
  nodes->count = count;
  fill_nodes(nodes, size, g->me, ints + 3 * (size_t)size + 1);
  return RG_SUCCESS;
}

int rgi_coll_local_rank(const rgi_coll *coll, int rank) {
  const rgi_coll_nodes *nodes = &coll->nodes;
  if (nodes->count == 1)
    return rank;
  int low = nodes->first[nodes->of[rank]], high = nodes->first[nodes->of[rank] + 1], first = low;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (nodes->by_node[middle] <= rank)
      low = middle;
    else
      high = middle;
  }
  return low - first;
}

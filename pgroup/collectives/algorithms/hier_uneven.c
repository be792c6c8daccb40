/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gatherv, scatterv and allgatherv by nodes (hier.h). What a leader or the root sends
 * next depends on sizes that come in the first messages: so these schedules are written in
 * parts, by rgi_sched_continue. */

#include <string.h>

#include "collectives/algorithms/choice.h"
#include "collectives/algorithms/hier.h"

/* Sending so many bytes between nodes takes as long as starting a message. */
#define LONG_BLOCK ((size_t)32 << 10)

/* One operation, until its end. */
typedef struct {
  rgi_algorithm_args p;
  rgi_subgroup leaders;
  size_t *lengths; /* of the blocks of the members on my node */
  size_t mine;     /* scatterv: length of the own block, as the root has it */
  char **bundles;  /* at the root, one for each node: sizes, then the short blocks */
} uneven_call;

static uneven_call *begin_call(rgi_sched *sched, const rgi_algorithm_args *args) {
  uneven_call *uneven = rgi_sched_alloc(sched, sizeof *uneven);
  if (uneven)
    *uneven = (uneven_call){.p = *args, .leaders = rgi_hier_leaders(sched, args->root)};
  return uneven;
}

static int is_node_leader(const rgi_sched *sched, const uneven_call *uneven) {
  return uneven->leaders.ranks[sched->coll->nodes.mine] == sched->coll->all.me;
}

static const rgi_subgroup *all_members(const rgi_sched *sched) {
  return &sched->coll->all;
}

static size_t list_bytes(const rgi_sched *sched, int node) {
  return (size_t)rgi_hier_node_size(sched, node) * sizeof(size_t);
}

/* The bytes of the short blocks among n. */
static size_t short_bytes(const size_t lengths[], int n) {
  size_t bytes = 0;
  for (int i = 0; i < n; i++)
    bytes += lengths[i] <= LONG_BLOCK ? lengths[i] : 0;
  return bytes;
}

/* The lengths of a node's blocks. */
static void list_lengths(const rgi_sched *sched, const rgi_blocks *blocks, int node,
                         size_t lengths[]) {
  for (int i = 0; i < rgi_hier_node_size(sched, node); i++)
    lengths[i] = rgi_blocks_length(blocks, rgi_hier_node_member(sched, node, i));
}

/* --- gatherv ---------------------------------------------------------------------------- */

/* A leader, once it knows the sizes. Empty blocks need no message. A long block of the leader's
 * own comes last. */
static void bundle_blocks(rgi_sched *sched, void *data) {
  uneven_call *uneven = data;
  int node = sched->coll->nodes.mine, n = rgi_hier_node_size(sched, node),
      me = all_members(sched)->me;
  size_t at = list_bytes(sched, node), bytes = at + short_bytes(uneven->lengths, n);
  char *room = rgi_sched_alloc(sched, bytes);
  if (!room)
    return;
  memcpy(room, uneven->lengths, at);
  for (int i = 0; i < n; i++) {
    int rank = rgi_hier_node_member(sched, node, i);
    if (uneven->lengths[i] > LONG_BLOCK)
      continue;
    if (rank == me)
      rgi_sched_copy(sched, room + at, uneven->p.in, uneven->lengths[i]);
    else if (uneven->lengths[i])
      rgi_sched_receive(sched, all_members(sched), rank, room + at, uneven->lengths[i]);
    at += uneven->lengths[i];
  }
  rgi_sched_end_round(sched);
  rgi_sched_send(sched, all_members(sched), uneven->p.root, room, bytes);
  if (uneven->p.bytes > LONG_BLOCK)
    rgi_sched_send(sched, all_members(sched), uneven->p.root, uneven->p.in, uneven->p.bytes);
}

static void gather_from_member(rgi_sched *sched, uneven_call *uneven) {
  int node = sched->coll->nodes.mine, leader = is_node_leader(sched, uneven);
  size_t *mine = rgi_sched_alloc(sched, sizeof *mine);
  uneven->lengths = leader ? rgi_sched_alloc(sched, list_bytes(sched, node)) : NULL;
  if (sched->error)
    return;
  *mine = uneven->p.bytes;
  rgi_algorithm_args sizes = {.in = (char *)mine,
                              .out = (char *)uneven->lengths,
                              .bytes = sizeof *mine,
                              .root = rgi_hier_leader_local_rank(sched, &uneven->leaders)};
  rgi_hier_node_gather(sched, RG_OP_GATHERV, &sizes);
  if (leader)
    rgi_sched_continue(sched, bundle_blocks, uneven);
  else if (uneven->p.bytes)
    rgi_sched_send(sched, all_members(sched),
                   uneven->p.bytes > LONG_BLOCK ? uneven->p.root : uneven->leaders.ranks[node],
                   uneven->p.in, uneven->p.bytes);
}

/* The root, once a node's bundle has come: copies short blocks to their places and receives
 * the long ones. */
static void unpack_bundle(rgi_sched *sched, const uneven_call *uneven, int node) {
  int n = rgi_hier_node_size(sched, node);
  const size_t *sent = (size_t *)(void *)uneven->bundles[node];
  size_t *expected = rgi_sched_alloc(sched, list_bytes(sched, node)), at = 0;
  const char *blocks = uneven->bundles[node] + list_bytes(sched, node);
  if (!expected)
    return;
  list_lengths(sched, &uneven->p.out_blocks, node, expected);
  size_t room = short_bytes(expected, n);
  for (int i = 0; i < n; i++) {
    int rank = rgi_hier_node_member(sched, node, i);
    char *to = uneven->p.out + rgi_blocks_at(&uneven->p.out_blocks, rank);
    if (sent[i] > LONG_BLOCK) {
      rgi_sched_receive(sched, all_members(sched), rank, to, expected[i]);
      continue;
    }
    if (sent[i] != expected[i])
      rgi_sched_length_error(sched, rank, sent[i], expected[i]);
    else if (at <= room && sent[i] <= room - at)
      rgi_sched_copy(sched, to, blocks + at, sent[i]);
    at += sent[i];
  }
}

static void unpack_all_bundles(rgi_sched *sched, void *data) {
  uneven_call *uneven = data;
  for (int node = 0; node < sched->coll->nodes.count; node++)
    if (node != sched->coll->nodes.mine)
      unpack_bundle(sched, uneven, node);
}

static void receive_bundle(rgi_sched *sched, uneven_call *uneven, int node) {
  int n = rgi_hier_node_size(sched, node);
  size_t *lengths = rgi_sched_alloc(sched, list_bytes(sched, node)),
         bytes = list_bytes(sched, node);
  if (!lengths)
    return;
  list_lengths(sched, &uneven->p.out_blocks, node, lengths);
  bytes += short_bytes(lengths, n);
  uneven->bundles[node] = rgi_sched_alloc(sched, bytes);
  if (!uneven->bundles[node])
    return;
  memset(uneven->bundles[node], 0,
         list_bytes(sched, node)); /* a bundle of a wrong length is not stored */
  rgi_sched_receive(sched, all_members(sched), uneven->leaders.ranks[node], uneven->bundles[node],
                    bytes);
}

static void gather_at_root(rgi_sched *sched, uneven_call *uneven) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  const rgi_algorithm_args *args = &uneven->p;
  uneven->bundles = rgi_sched_alloc(sched, (size_t)nodes->count * sizeof *uneven->bundles);
  for (int node = 0; node < nodes->count && uneven->bundles; node++)
    if (node != nodes->mine)
      receive_bundle(sched, uneven, node);
  for (int i = 0; i < rgi_hier_node_size(sched, nodes->mine); i++) {
    int rank = rgi_hier_node_member(sched, nodes->mine, i);
    char *to = args->out + rgi_blocks_at(&args->out_blocks, rank);
    if (rank != args->root)
      rgi_sched_receive(sched, all_members(sched), rank, to,
                        rgi_blocks_length(&args->out_blocks, rank));
    else if (args->in)
      rgi_sched_copy(sched, to, args->in, args->bytes);
  }
  rgi_sched_continue(sched, unpack_all_bundles, uneven);
}

void rgi_hier_uneven_gatherv(rgi_sched *sched, const rgi_subgroup *subgroup,
                             const rgi_algorithm_args *args) {
  uneven_call *uneven = begin_call(sched, args);
  if (!uneven)
    return;
  if (subgroup->me == args->root)
    gather_at_root(sched, uneven);
  else if (sched->coll->nodes.of[args->root] == sched->coll->nodes.mine)
    rgi_sched_send(sched, subgroup, args->root, args->in, args->bytes);
  else
    gather_from_member(sched, uneven);
}

/* --- scatterv --------------------------------------------------------------------------- */

/* A member, once it knows the length of the block that the root has for it. */
static void receive_own(rgi_sched *sched, void *data) {
  uneven_call *uneven = data;
  if (uneven->mine > LONG_BLOCK)
    rgi_sched_receive(sched, all_members(sched), uneven->p.root, uneven->p.out, uneven->p.bytes);
  else if (uneven->mine)
    rgi_sched_receive(sched, all_members(sched), uneven->leaders.ranks[sched->coll->nodes.mine],
                      uneven->p.out, uneven->p.bytes);
  else if (uneven->p.bytes)
    rgi_sched_length_error(sched, uneven->p.root, 0, uneven->p.bytes);
}

/* A leader, once it knows the sizes: the short blocks go to their owners. A long block of its own
 * comes last. */
static void distribute_blocks(rgi_sched *sched, void *data) {
  uneven_call *uneven = data;
  int node = sched->coll->nodes.mine, n = rgi_hier_node_size(sched, node),
      me = all_members(sched)->me;
  size_t bytes = short_bytes(uneven->lengths, n), at = 0;
  char *room = rgi_sched_alloc(sched, bytes);
  if (!room)
    return;
  if (bytes)
    rgi_sched_receive(sched, all_members(sched), uneven->p.root, room, bytes);
  rgi_sched_end_round(sched);
  for (int i = 0; i < n; i++) {
    size_t length = uneven->lengths[i];
    int rank = rgi_hier_node_member(sched, node, i);
    if (length > LONG_BLOCK)
      continue;
    if (rank == me && length != uneven->p.bytes)
      rgi_sched_length_error(sched, uneven->p.root, length, uneven->p.bytes);
    else if (rank == me)
      rgi_sched_copy(sched, uneven->p.out, room + at, length);
    else if (length)
      rgi_sched_send(sched, all_members(sched), rank, room + at, length);
    at += length;
  }
  if (uneven->mine > LONG_BLOCK)
    rgi_sched_receive(sched, all_members(sched), uneven->p.root, uneven->p.out, uneven->p.bytes);
}

static void scatter_to_member(rgi_sched *sched, uneven_call *uneven) {
  int node = sched->coll->nodes.mine, leader = is_node_leader(sched, uneven);
  uneven->lengths = leader ? rgi_sched_alloc(sched, list_bytes(sched, node)) : NULL;
  if (sched->error)
    return;
  if (leader) {
    rgi_sched_receive(sched, all_members(sched), uneven->p.root, uneven->lengths,
                      list_bytes(sched, node));
    rgi_sched_end_round(sched);
  }
  rgi_algorithm_args sizes = {.in = (char *)uneven->lengths,
                              .out = (char *)&uneven->mine,
                              .bytes = sizeof uneven->mine,
                              .root = rgi_hier_leader_local_rank(sched, &uneven->leaders)};
  rgi_hier_node_scatter(sched, RG_OP_SCATTERV, &sizes);
  rgi_sched_continue(sched, leader ? distribute_blocks : receive_own, uneven);
}

static void send_bundle(rgi_sched *sched, const uneven_call *uneven, int node) {
  const rgi_blocks *blocks = &uneven->p.in_blocks;
  int n = rgi_hier_node_size(sched, node), leader = uneven->leaders.ranks[node];
  size_t *lengths = rgi_sched_alloc(sched, list_bytes(sched, node)), at = 0;
  if (!lengths)
    return;
  list_lengths(sched, blocks, node, lengths);
  size_t bytes = short_bytes(lengths, n);
  char *room = rgi_sched_alloc(sched, bytes);
  for (int i = 0; i < n && room; i++)
    if (lengths[i] <= LONG_BLOCK) {
      rgi_sched_copy(sched, room + at,
                     uneven->p.in + rgi_blocks_at(blocks, rgi_hier_node_member(sched, node, i)),
                     lengths[i]);
      at += lengths[i];
    }
  rgi_sched_send(sched, all_members(sched), leader, lengths, list_bytes(sched, node));
  if (bytes)
    rgi_sched_send(sched, all_members(sched), leader, room, bytes);
  for (int i = 0; i < n; i++)
    if (lengths[i] > LONG_BLOCK)
      rgi_sched_send(sched, all_members(sched), rgi_hier_node_member(sched, node, i),
                     uneven->p.in + rgi_blocks_at(blocks, rgi_hier_node_member(sched, node, i)),
                     lengths[i]);
}

static void scatter_from_root(rgi_sched *sched, uneven_call *uneven) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  const rgi_algorithm_args *args = &uneven->p;
  for (int node = 0; node < nodes->count; node++)
    if (node != nodes->mine)
      send_bundle(sched, uneven, node);
  for (int i = 0; i < rgi_hier_node_size(sched, nodes->mine); i++) {
    int rank = rgi_hier_node_member(sched, nodes->mine, i);
    const char *from = args->in + rgi_blocks_at(&args->in_blocks, rank);
    if (rank != args->root)
      rgi_sched_send(sched, all_members(sched), rank, from,
                     rgi_blocks_length(&args->in_blocks, rank));
    else if (args->out)
      rgi_sched_copy(sched, args->out, from, args->bytes);
  }
}

void rgi_hier_uneven_scatterv(rgi_sched *sched, const rgi_subgroup *subgroup,
                              const rgi_algorithm_args *args) {
  uneven_call *uneven = begin_call(sched, args);
  if (!uneven)
    return;
  if (subgroup->me == args->root)
    scatter_from_root(sched, uneven);
  else if (sched->coll->nodes.of[args->root] == sched->coll->nodes.mine)
    rgi_sched_receive(sched, subgroup, args->root, args->out, args->bytes);
  else
    scatter_to_member(sched, uneven);
}

/* --- allgatherv ------------------------------------------------------------------------- */

/* Blocks one after another, node by node. */
typedef struct {
  size_t *at, bytes;
  rgi_blocks nodes;
} packed_layout;

static int pack_by_node(rgi_sched *sched, const rgi_algorithm_args *args, packed_layout *layout) {
  const rgi_coll_nodes *nodes = &sched->coll->nodes;
  size_t *by_node = rgi_sched_alloc(sched, 2 * (size_t)nodes->count * sizeof *by_node);
  layout->at = rgi_sched_alloc(sched, (size_t)all_members(sched)->size * sizeof *layout->at);
  layout->bytes = 0;
  if (sched->error)
    return 0;
  layout->nodes = (rgi_blocks){0, by_node, by_node + nodes->count};
  for (int node = 0; node < nodes->count; node++) {
    by_node[node] = layout->bytes;
    for (int i = 0; i < rgi_hier_node_size(sched, node); i++) {
      int rank = rgi_hier_node_member(sched, node, i);
      layout->at[rank] = layout->bytes;
      layout->bytes += rgi_blocks_length(&args->out_blocks, rank);
    }
    by_node[nodes->count + node] = layout->bytes - by_node[node];
  }
  return 1;
}

/* Whether the user's layout is the packed one. */
static int lies_packed(const rgi_algorithm_args *args, const packed_layout *layout, int n) {
  for (int i = 0; i < n; i++)
    if (rgi_blocks_at(&args->out_blocks, i) - rgi_blocks_at(&args->out_blocks, 0) != layout->at[i])
      return 0;
  return 1;
}

/* Gathers the blocks of the caller's node at its leader. */
static void gather_on_node(rgi_sched *sched, const rgi_algorithm_args *args,
                           const packed_layout *layout, char *room) {
  const rgi_subgroup *inside = &sched->coll->nodes.inside;
  size_t *at = rgi_sched_alloc(sched, 2 * (size_t)inside->size * sizeof *at),
         *length = at + inside->size;
  rgi_algorithm_args here = {.in = args->in, .out = room, .bytes = args->bytes};
  const char *own = args->out + rgi_blocks_at(&args->out_blocks, all_members(sched)->me);
  if (!at)
    return;
  for (int i = 0; i < inside->size; i++) {
    at[i] = layout->at[rgi_subgroup_rank(inside, i)];
    length[i] = rgi_blocks_length(&args->out_blocks, rgi_subgroup_rank(inside, i));
  }
  here.out_blocks = (rgi_blocks){0, at, length};
  if (!here.in)
    here.in = own;
  rgi_sched_end_round(sched);
  rgi_choice_build(sched, RG_OP_GATHERV, sched->coll->forced[RG_OP_ALLGATHERV].inside, inside,
                   &here);
  rgi_sched_end_round(sched);
}

void rgi_hier_uneven_allgatherv(rgi_sched *sched, const rgi_subgroup *subgroup,
                                const rgi_algorithm_args *args) {
  rgi_subgroup leaders = rgi_hier_leaders(sched, -1);
  packed_layout layout;
  if (!pack_by_node(sched, args, &layout))
    return;
  int packed = lies_packed(args, &layout, subgroup->size);
  char *room = packed ? args->out + rgi_blocks_at(&args->out_blocks, 0)
                      : rgi_sched_alloc(sched, layout.bytes);
  gather_on_node(sched, args, &layout, room);
  rgi_algorithm_args between = {.out = room, .out_blocks = layout.nodes};
  between.bytes = rgi_blocks_length(&layout.nodes, sched->coll->nodes.mine);
  rgi_hier_between(sched, RG_OP_ALLGATHERV, &leaders, &between);
  rgi_hier_node_bcast(sched, RG_OP_ALLGATHERV, room, layout.bytes, 0);
  for (int i = 0; i < subgroup->size && !packed; i++)
    rgi_sched_copy(sched, args->out + rgi_blocks_at(&args->out_blocks, i), room + layout.at[i],
                   rgi_blocks_length(&args->out_blocks, i));
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gatherv, scatterv and allgatherv by nodes (hier_uneven.h). What a leader or the root sends
 * next depends on sizes that come in the first messages: so these schedules are written in
 * parts, by rgi_sched_continue. */
#include "collectives/algorithms/hier_uneven.h"

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

static uneven_call *begin_call(rgi_sched *s, const rgi_algorithm_args *p) {
  uneven_call *w = rgi_sched_alloc(s, sizeof *w);
  if (w)
    *w = (uneven_call){.p = *p, .leaders = rgi_hier_leaders(s, p->root)};
  return w;
}

static int is_node_leader(const rgi_sched *s, const uneven_call *w) {
  return w->leaders.ranks[s->coll->nodes.mine] == s->coll->all.me;
}

static const rgi_subgroup *all_members(const rgi_sched *s) {
  return &s->coll->all;
}

static size_t list_bytes(const rgi_sched *s, int node) {
  return (size_t)rgi_hier_node_size(s, node) * sizeof(size_t);
}

/* The bytes of the short blocks among n. */
static size_t short_bytes(const size_t lengths[], int n) {
  size_t bytes = 0;
  for (int i = 0; i < n; i++)
    bytes += lengths[i] <= LONG_BLOCK ? lengths[i] : 0;
  return bytes;
}

/* The lengths of a node's blocks. */
static void list_lengths(const rgi_sched *s, const rgi_blocks *b, int node, size_t lengths[]) {
  for (int i = 0; i < rgi_hier_node_size(s, node); i++)
    lengths[i] = rgi_blocks_length(b, rgi_hier_node_member(s, node, i));
}

/* --- gatherv ---------------------------------------------------------------------------- */

/* A leader, once it knows the sizes. Empty blocks need no message. A long block of the leader's
 * own comes last. */
static void bundle_blocks(rgi_sched *s, void *data) {
  uneven_call *w = data;
  int node = s->coll->nodes.mine, n = rgi_hier_node_size(s, node), me = all_members(s)->me;
  size_t at = list_bytes(s, node), bytes = at + short_bytes(w->lengths, n);
  char *room = rgi_sched_alloc(s, bytes);
  if (!room)
    return;
  memcpy(room, w->lengths, at);
  for (int i = 0; i < n; i++) {
    int rank = rgi_hier_node_member(s, node, i);
    if (w->lengths[i] > LONG_BLOCK)
      continue;
    if (rank == me)
      rgi_sched_copy(s, room + at, w->p.in, w->lengths[i]);
    else if (w->lengths[i])
      rgi_sched_receive(s, all_members(s), rank, room + at, w->lengths[i]);
    at += w->lengths[i];
  }
  rgi_sched_end_round(s);
  rgi_sched_send(s, all_members(s), w->p.root, room, bytes);
  if (w->p.bytes > LONG_BLOCK)
    rgi_sched_send(s, all_members(s), w->p.root, w->p.in, w->p.bytes);
}

static void gather_from_member(rgi_sched *s, uneven_call *w) {
  int node = s->coll->nodes.mine, leader = is_node_leader(s, w);
  size_t *mine = rgi_sched_alloc(s, sizeof *mine);
  w->lengths = leader ? rgi_sched_alloc(s, list_bytes(s, node)) : NULL;
  if (s->error)
    return;
  *mine = w->p.bytes;
  rgi_algorithm_args sizes = {.in = (char *)mine,
                              .out = (char *)w->lengths,
                              .bytes = sizeof *mine,
                              .root = rgi_hier_leader_local_rank(s, &w->leaders)};
  rgi_hier_node_gather(s, RG_OP_GATHERV, &sizes);
  if (leader)
    rgi_sched_continue(s, bundle_blocks, w);
  else if (w->p.bytes)
    rgi_sched_send(s, all_members(s), w->p.bytes > LONG_BLOCK ? w->p.root : w->leaders.ranks[node],
                   w->p.in, w->p.bytes);
}

/* The root, once a node's bundle has come: copies short blocks to their places and receives
 * the long ones. */
static void unpack_bundle(rgi_sched *s, const uneven_call *w, int node) {
  int n = rgi_hier_node_size(s, node);
  const size_t *sent = (size_t *)(void *)w->bundles[node];
  size_t *expected = rgi_sched_alloc(s, list_bytes(s, node)), at = 0;
  const char *blocks = w->bundles[node] + list_bytes(s, node);
  if (!expected)
    return;
  list_lengths(s, &w->p.out_blocks, node, expected);
  size_t room = short_bytes(expected, n);
  for (int i = 0; i < n; i++) {
    int rank = rgi_hier_node_member(s, node, i);
    char *to = w->p.out + rgi_blocks_at(&w->p.out_blocks, rank);
    if (sent[i] > LONG_BLOCK) {
      rgi_sched_receive(s, all_members(s), rank, to, expected[i]);
      continue;
    }
    if (sent[i] != expected[i])
      rgi_sched_length_error(s, rank, sent[i], expected[i]);
    else if (at <= room && sent[i] <= room - at)
      rgi_sched_copy(s, to, blocks + at, sent[i]);
    at += sent[i];
  }
}

static void unpack_all_bundles(rgi_sched *s, void *data) {
  uneven_call *w = data;
  for (int node = 0; node < s->coll->nodes.count; node++)
    if (node != s->coll->nodes.mine)
      unpack_bundle(s, w, node);
}

static void receive_bundle(rgi_sched *s, uneven_call *w, int node) {
  int n = rgi_hier_node_size(s, node);
  size_t *lengths = rgi_sched_alloc(s, list_bytes(s, node)), bytes = list_bytes(s, node);
  if (!lengths)
    return;
  list_lengths(s, &w->p.out_blocks, node, lengths);
  bytes += short_bytes(lengths, n);
  w->bundles[node] = rgi_sched_alloc(s, bytes);
  if (!w->bundles[node])
    return;
  memset(w->bundles[node], 0, list_bytes(s, node)); /* a bundle of a wrong length is not stored */
  rgi_sched_receive(s, all_members(s), w->leaders.ranks[node], w->bundles[node], bytes);
}

static void gather_at_root(rgi_sched *s, uneven_call *w) {
  const rgi_coll_nodes *nodes = &s->coll->nodes;
  const rgi_algorithm_args *p = &w->p;
  w->bundles = rgi_sched_alloc(s, (size_t)nodes->count * sizeof *w->bundles);
  for (int node = 0; node < nodes->count && w->bundles; node++)
    if (node != nodes->mine)
      receive_bundle(s, w, node);
  for (int i = 0; i < rgi_hier_node_size(s, nodes->mine); i++) {
    int rank = rgi_hier_node_member(s, nodes->mine, i);
    char *to = p->out + rgi_blocks_at(&p->out_blocks, rank);
    if (rank != p->root)
      rgi_sched_receive(s, all_members(s), rank, to, rgi_blocks_length(&p->out_blocks, rank));
    else if (p->in)
      rgi_sched_copy(s, to, p->in, p->bytes);
  }
  rgi_sched_continue(s, unpack_all_bundles, w);
}

void rgi_hier_uneven_gatherv(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  uneven_call *w = begin_call(s, p);
  if (!w)
    return;
  if (t->me == p->root)
    gather_at_root(s, w);
  else if (s->coll->nodes.of[p->root] == s->coll->nodes.mine)
    rgi_sched_send(s, t, p->root, p->in, p->bytes);
  else
    gather_from_member(s, w);
}

/* --- scatterv --------------------------------------------------------------------------- */

/* A member, once it knows the length of the block that the root has for it. */
static void receive_own(rgi_sched *s, void *data) {
  uneven_call *w = data;
  if (w->mine > LONG_BLOCK)
    rgi_sched_receive(s, all_members(s), w->p.root, w->p.out, w->p.bytes);
  else if (w->mine)
    rgi_sched_receive(s, all_members(s), w->leaders.ranks[s->coll->nodes.mine], w->p.out,
                      w->p.bytes);
  else if (w->p.bytes)
    rgi_sched_length_error(s, w->p.root, 0, w->p.bytes);
}

/* A leader, once it knows the sizes: the short blocks go to their owners. A long block of its own
 * comes last. */
static void distribute_blocks(rgi_sched *s, void *data) {
  uneven_call *w = data;
  int node = s->coll->nodes.mine, n = rgi_hier_node_size(s, node), me = all_members(s)->me;
  size_t bytes = short_bytes(w->lengths, n), at = 0;
  char *room = rgi_sched_alloc(s, bytes);
  if (!room)
    return;
  if (bytes)
    rgi_sched_receive(s, all_members(s), w->p.root, room, bytes);
  rgi_sched_end_round(s);
  for (int i = 0; i < n; i++) {
    size_t length = w->lengths[i];
    int rank = rgi_hier_node_member(s, node, i);
    if (length > LONG_BLOCK)
      continue;
    if (rank == me && length != w->p.bytes)
      rgi_sched_length_error(s, w->p.root, length, w->p.bytes);
    else if (rank == me)
      rgi_sched_copy(s, w->p.out, room + at, length);
    else if (length)
      rgi_sched_send(s, all_members(s), rank, room + at, length);
    at += length;
  }
  if (w->mine > LONG_BLOCK)
    rgi_sched_receive(s, all_members(s), w->p.root, w->p.out, w->p.bytes);
}

static void scatter_to_member(rgi_sched *s, uneven_call *w) {
  int node = s->coll->nodes.mine, leader = is_node_leader(s, w);
  w->lengths = leader ? rgi_sched_alloc(s, list_bytes(s, node)) : NULL;
  if (s->error)
    return;
  if (leader) {
    rgi_sched_receive(s, all_members(s), w->p.root, w->lengths, list_bytes(s, node));
    rgi_sched_end_round(s);
  }
  rgi_algorithm_args sizes = {.in = (char *)w->lengths,
                              .out = (char *)&w->mine,
                              .bytes = sizeof w->mine,
                              .root = rgi_hier_leader_local_rank(s, &w->leaders)};
  rgi_hier_node_scatter(s, RG_OP_SCATTERV, &sizes);
  rgi_sched_continue(s, leader ? distribute_blocks : receive_own, w);
}

static void send_bundle(rgi_sched *s, const uneven_call *w, int node) {
  const rgi_blocks *b = &w->p.in_blocks;
  int n = rgi_hier_node_size(s, node), leader = w->leaders.ranks[node];
  size_t *lengths = rgi_sched_alloc(s, list_bytes(s, node)), at = 0;
  if (!lengths)
    return;
  list_lengths(s, b, node, lengths);
  size_t bytes = short_bytes(lengths, n);
  char *room = rgi_sched_alloc(s, bytes);
  for (int i = 0; i < n && room; i++)
    if (lengths[i] <= LONG_BLOCK) {
      rgi_sched_copy(s, room + at, w->p.in + rgi_blocks_at(b, rgi_hier_node_member(s, node, i)),
                     lengths[i]);
      at += lengths[i];
    }
  rgi_sched_send(s, all_members(s), leader, lengths, list_bytes(s, node));
  if (bytes)
    rgi_sched_send(s, all_members(s), leader, room, bytes);
  for (int i = 0; i < n; i++)
    if (lengths[i] > LONG_BLOCK)
      rgi_sched_send(s, all_members(s), rgi_hier_node_member(s, node, i),
                     w->p.in + rgi_blocks_at(b, rgi_hier_node_member(s, node, i)), lengths[i]);
}

static void scatter_from_root(rgi_sched *s, uneven_call *w) {
  const rgi_coll_nodes *nodes = &s->coll->nodes;
  const rgi_algorithm_args *p = &w->p;
  for (int node = 0; node < nodes->count; node++)
    if (node != nodes->mine)
      send_bundle(s, w, node);
  for (int i = 0; i < rgi_hier_node_size(s, nodes->mine); i++) {
    int rank = rgi_hier_node_member(s, nodes->mine, i);
    const char *from = p->in + rgi_blocks_at(&p->in_blocks, rank);
    if (rank != p->root)
      rgi_sched_send(s, all_members(s), rank, from, rgi_blocks_length(&p->in_blocks, rank));
    else if (p->out)
      rgi_sched_copy(s, p->out, from, p->bytes);
  }
}

void rgi_hier_uneven_scatterv(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  uneven_call *w = begin_call(s, p);
  if (!w)
    return;
  if (t->me == p->root)
    scatter_from_root(s, w);
  else if (s->coll->nodes.of[p->root] == s->coll->nodes.mine)
    rgi_sched_receive(s, t, p->root, p->out, p->bytes);
  else
    scatter_to_member(s, w);
}

/* --- allgatherv ------------------------------------------------------------------------- */

/* Blocks one after another, node by node. */
typedef struct {
  size_t *at, bytes;
  rgi_blocks nodes;
} packed_layout;

static int pack_by_node(rgi_sched *s, const rgi_algorithm_args *p, packed_layout *k) {
  const rgi_coll_nodes *nodes = &s->coll->nodes;
  size_t *by_node = rgi_sched_alloc(s, 2 * (size_t)nodes->count * sizeof *by_node);
  k->at = rgi_sched_alloc(s, (size_t)all_members(s)->size * sizeof *k->at);
  k->bytes = 0;
  if (s->error)
    return 0;
  k->nodes = (rgi_blocks){0, by_node, by_node + nodes->count};
  for (int node = 0; node < nodes->count; node++) {
    by_node[node] = k->bytes;
    for (int i = 0; i < rgi_hier_node_size(s, node); i++) {
      int rank = rgi_hier_node_member(s, node, i);
      k->at[rank] = k->bytes;
      k->bytes += rgi_blocks_length(&p->out_blocks, rank);
    }
    by_node[nodes->count + node] = k->bytes - by_node[node];
  }
  return 1;
}

/* Whether the user's layout is the packed one. */
static int lies_packed(const rgi_algorithm_args *p, const packed_layout *k, int n) {
  for (int i = 0; i < n; i++)
    if (rgi_blocks_at(&p->out_blocks, i) - rgi_blocks_at(&p->out_blocks, 0) != k->at[i])
      return 0;
  return 1;
}

/* Gathers the blocks of the caller's node at its leader. */
static void gather_on_node(rgi_sched *s, const rgi_algorithm_args *p, const packed_layout *k,
                           char *room) {
  const rgi_subgroup *inside = &s->coll->nodes.inside;
  size_t *at = rgi_sched_alloc(s, 2 * (size_t)inside->size * sizeof *at),
         *length = at + inside->size;
  rgi_algorithm_args here = {.in = p->in, .out = room, .bytes = p->bytes};
  const char *own = p->out + rgi_blocks_at(&p->out_blocks, all_members(s)->me);
  if (!at)
    return;
  for (int i = 0; i < inside->size; i++) {
    at[i] = k->at[rgi_subgroup_rank(inside, i)];
    length[i] = rgi_blocks_length(&p->out_blocks, rgi_subgroup_rank(inside, i));
  }
  here.out_blocks = (rgi_blocks){0, at, length};
  if (!here.in)
    here.in = own;
  rgi_sched_end_round(s);
  rgi_choice_build(s, RG_OP_GATHERV, s->coll->forced[RG_OP_ALLGATHERV].inside, inside, &here);
  rgi_sched_end_round(s);
}

void rgi_hier_uneven_allgatherv(rgi_sched *s, const rgi_subgroup *t, const rgi_algorithm_args *p) {
  rgi_subgroup leaders = rgi_hier_leaders(s, -1);
  packed_layout k;
  if (!pack_by_node(s, p, &k))
    return;
  int packed = lies_packed(p, &k, t->size);
  char *room = packed ? p->out + rgi_blocks_at(&p->out_blocks, 0) : rgi_sched_alloc(s, k.bytes);
  gather_on_node(s, p, &k, room);
  rgi_algorithm_args between = {.out = room, .out_blocks = k.nodes};
  between.bytes = rgi_blocks_length(&k.nodes, s->coll->nodes.mine);
  rgi_hier_between(s, RG_OP_ALLGATHERV, &leaders, &between);
  rgi_hier_node_bcast(s, RG_OP_ALLGATHERV, room, k.bytes, 0);
  for (int i = 0; i < t->size && !packed; i++)
    rgi_sched_copy(s, p->out + rgi_blocks_at(&p->out_blocks, i), room + k.at[i],
                   rgi_blocks_length(&p->out_blocks, i));
}

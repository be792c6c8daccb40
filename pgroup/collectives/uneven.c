/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/uneven.h"

#include <string.h>

#include "collectives/hierarchy.h"

/* To move so much takes as long as to start a message between nodes. */
#define LONG ((size_t)32 << 10)

/* One operation, until its end. */
typedef struct {
  rgi_problem p;
  rgi_team speakers;
  size_t *lengths; /* of the members on my node, in their order */
  size_t mine;     /* scatterv: of the own block, by the root */
  char **bundles;  /* the root's, one for each node: sizes, and the short blocks */
} work;

static work *begin(rgi_schedule *s, const rgi_problem *p) {
  work *w = rgi_room_of(s, sizeof *w);
  if (w)
    *w = (work){.p = *p, .speakers = rgi_speakers(s, p->root)};
  return w;
}

static int speaks(const rgi_schedule *s, const work *w) {
  return w->speakers.ranks[s->state->nodes.mine] == s->state->everyone.me;
}

static const rgi_team *all(const rgi_schedule *s) {
  return &s->state->everyone;
}

static size_t list_bytes(const rgi_schedule *s, int node) {
  return (size_t)rgi_node_members(s, node) * sizeof(size_t);
}

/* The bytes of the short ones among n. */
static size_t short_bytes(const size_t lengths[], int n) {
  size_t bytes = 0;
  for (int i = 0; i < n; i++)
    bytes += lengths[i] <= LONG ? lengths[i] : 0;
  return bytes;
}

/* The lengths of a node's blocks. */
static void list_lengths(const rgi_schedule *s, const rgi_blocks *b, int node, size_t lengths[]) {
  for (int i = 0; i < rgi_node_members(s, node); i++)
    lengths[i] = rgi_length(b, rgi_node_member(s, node, i));
}

/* --- gatherv ---------------------------------------------------------------------------- */

/* A speaker: the sizes are known. Blocks of no bytes need no message. A long one of
 * its own comes last. */
static void bundle(rgi_schedule *s, void *data) {
  work *w = data;
  int node = s->state->nodes.mine, n = rgi_node_members(s, node), me = all(s)->me;
  size_t at = list_bytes(s, node), bytes = at + short_bytes(w->lengths, n);
  char *room = rgi_room_of(s, bytes);
  if (!room)
    return;
  memcpy(room, w->lengths, at);
  for (int i = 0; i < n; i++) {
    int rank = rgi_node_member(s, node, i);
    if (w->lengths[i] > LONG)
      continue;
    if (rank == me)
      rgi_copy(s, room + at, w->p.in, w->lengths[i]);
    else if (w->lengths[i])
      rgi_receive(s, all(s), rank, room + at, w->lengths[i]);
    at += w->lengths[i];
  }
  rgi_round(s);
  rgi_send(s, all(s), w->p.root, room, bytes);
  if (w->p.bytes > LONG)
    rgi_send(s, all(s), w->p.root, w->p.in, w->p.bytes);
}

static void gather_from_member(rgi_schedule *s, work *w) {
  int node = s->state->nodes.mine, speaker = speaks(s, w);
  size_t *mine = rgi_room_of(s, sizeof *mine);
  w->lengths = speaker ? rgi_room_of(s, list_bytes(s, node)) : NULL;
  if (s->error)
    return;
  *mine = w->p.bytes;
  rgi_node_gather(s, RG_OP_GATHERV, (char *)mine, sizeof *mine, w->lengths,
                  rgi_speaker_place(s, &w->speakers));
  if (speaker)
    rgi_then(s, bundle, w);
  else if (w->p.bytes)
    rgi_send(s, all(s), w->p.bytes > LONG ? w->p.root : w->speakers.ranks[node], w->p.in,
             w->p.bytes);
}

/* One node's bundle has come: short blocks to their places, long ones follow. */
static void take_apart(rgi_schedule *s, const work *w, int node) {
  int n = rgi_node_members(s, node);
  const size_t *sent = (size_t *)(void *)w->bundles[node];
  size_t *expected = rgi_room_of(s, list_bytes(s, node)), at = 0;
  const char *blocks = w->bundles[node] + list_bytes(s, node);
  if (!expected)
    return;
  list_lengths(s, &w->p.out_blocks, node, expected);
  size_t room = short_bytes(expected, n);
  for (int i = 0; i < n; i++) {
    int rank = rgi_node_member(s, node, i);
    char *to = w->p.out + rgi_at(&w->p.out_blocks, rank);
    if (sent[i] > LONG) {
      rgi_receive(s, all(s), rank, to, expected[i]);
      continue;
    }
    if (sent[i] != expected[i])
      rgi_wrong_length(s, rank, sent[i], expected[i]);
    else if (at <= room && sent[i] <= room - at)
      rgi_copy(s, to, blocks + at, sent[i]);
    at += sent[i];
  }
}

static void take_all_apart(rgi_schedule *s, void *data) {
  work *w = data;
  for (int node = 0; node < s->state->nodes.count; node++)
    if (node != s->state->nodes.mine)
      take_apart(s, w, node);
}

static void receive_bundle(rgi_schedule *s, work *w, int node) {
  int n = rgi_node_members(s, node);
  size_t *lengths = rgi_room_of(s, list_bytes(s, node)), bytes = list_bytes(s, node);
  if (!lengths)
    return;
  list_lengths(s, &w->p.out_blocks, node, lengths);
  bytes += short_bytes(lengths, n);
  w->bundles[node] = rgi_room_of(s, bytes);
  if (!w->bundles[node])
    return;
  memset(w->bundles[node], 0, list_bytes(s, node)); /* if nothing right should come */
  rgi_receive(s, all(s), w->speakers.ranks[node], w->bundles[node], bytes);
}

static void gather_at_root(rgi_schedule *s, work *w) {
  const rgi_nodes *nodes = &s->state->nodes;
  const rgi_problem *p = &w->p;
  w->bundles = rgi_room_of(s, (size_t)nodes->count * sizeof *w->bundles);
  for (int node = 0; node < nodes->count && w->bundles; node++)
    if (node != nodes->mine)
      receive_bundle(s, w, node);
  for (int i = 0; i < rgi_node_members(s, nodes->mine); i++) {
    int rank = rgi_node_member(s, nodes->mine, i);
    char *to = p->out + rgi_at(&p->out_blocks, rank);
    if (rank != p->root)
      rgi_receive(s, all(s), rank, to, rgi_length(&p->out_blocks, rank));
    else if (p->in)
      rgi_copy(s, to, p->in, p->bytes);
  }
  rgi_then(s, take_all_apart, w);
}

void rgi_gatherv_by_nodes(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  work *w = begin(s, p);
  if (!w)
    return;
  if (t->me == p->root)
    gather_at_root(s, w);
  else if (s->state->nodes.of[p->root] == s->state->nodes.mine)
    rgi_send(s, t, p->root, p->in, p->bytes);
  else
    gather_from_member(s, w);
}

/* --- scatterv --------------------------------------------------------------------------- */

/* A member, which knows by now what the root has for it, and that it comes. */
static void receive_own(rgi_schedule *s, void *data) {
  work *w = data;
  if (w->mine > LONG)
    rgi_receive(s, all(s), w->p.root, w->p.out, w->p.bytes);
  else if (w->mine)
    rgi_receive(s, all(s), w->speakers.ranks[s->state->nodes.mine], w->p.out, w->p.bytes);
  else if (w->p.bytes)
    rgi_wrong_length(s, w->p.root, 0, w->p.bytes);
}

/* A speaker: the short blocks go to their owners. A long one for itself comes last. */
static void give_out(rgi_schedule *s, void *data) {
  work *w = data;
  int node = s->state->nodes.mine, n = rgi_node_members(s, node), me = all(s)->me;
  size_t bytes = short_bytes(w->lengths, n), at = 0;
  char *room = rgi_room_of(s, bytes);
  if (!room)
    return;
  if (bytes)
    rgi_receive(s, all(s), w->p.root, room, bytes);
  rgi_round(s);
  for (int i = 0; i < n; i++) {
    size_t length = w->lengths[i];
    int rank = rgi_node_member(s, node, i);
    if (length > LONG)
      continue;
    if (rank == me && length != w->p.bytes)
      rgi_wrong_length(s, w->p.root, length, w->p.bytes);
    else if (rank == me)
      rgi_copy(s, w->p.out, room + at, length);
    else if (length)
      rgi_send(s, all(s), rank, room + at, length);
    at += length;
  }
  if (w->mine > LONG)
    rgi_receive(s, all(s), w->p.root, w->p.out, w->p.bytes);
}

static void scatter_to_member(rgi_schedule *s, work *w) {
  int node = s->state->nodes.mine, speaker = speaks(s, w);
  w->lengths = speaker ? rgi_room_of(s, list_bytes(s, node)) : NULL;
  if (s->error)
    return;
  if (speaker) {
    rgi_receive(s, all(s), w->p.root, w->lengths, list_bytes(s, node));
    rgi_round(s);
  }
  rgi_node_scatter(s, RG_OP_SCATTERV, w->lengths, sizeof(size_t), &w->mine,
                   rgi_speaker_place(s, &w->speakers));
  rgi_then(s, speaker ? give_out : receive_own, w);
}

static void send_bundle(rgi_schedule *s, const work *w, int node) {
  const rgi_blocks *b = &w->p.in_blocks;
  int n = rgi_node_members(s, node), speaker = w->speakers.ranks[node];
  size_t *lengths = rgi_room_of(s, list_bytes(s, node)), at = 0;
  if (!lengths)
    return;
  list_lengths(s, b, node, lengths);
  size_t bytes = short_bytes(lengths, n);
  char *room = rgi_room_of(s, bytes);
  for (int i = 0; i < n && room; i++)
    if (lengths[i] <= LONG) {
      rgi_copy(s, room + at, w->p.in + rgi_at(b, rgi_node_member(s, node, i)), lengths[i]);
      at += lengths[i];
    }
  rgi_send(s, all(s), speaker, lengths, list_bytes(s, node));
  if (bytes)
    rgi_send(s, all(s), speaker, room, bytes);
  for (int i = 0; i < n; i++)
    if (lengths[i] > LONG)
      rgi_send(s, all(s), rgi_node_member(s, node, i),
               w->p.in + rgi_at(b, rgi_node_member(s, node, i)), lengths[i]);
}

static void scatter_from_root(rgi_schedule *s, work *w) {
  const rgi_nodes *nodes = &s->state->nodes;
  const rgi_problem *p = &w->p;
  for (int node = 0; node < nodes->count; node++)
    if (node != nodes->mine)
      send_bundle(s, w, node);
  for (int i = 0; i < rgi_node_members(s, nodes->mine); i++) {
    int rank = rgi_node_member(s, nodes->mine, i);
    const char *from = p->in + rgi_at(&p->in_blocks, rank);
    if (rank != p->root)
      rgi_send(s, all(s), rank, from, rgi_length(&p->in_blocks, rank));
    else if (p->out)
      rgi_copy(s, p->out, from, p->bytes);
  }
}

void rgi_scatterv_by_nodes(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  work *w = begin(s, p);
  if (!w)
    return;
  if (t->me == p->root)
    scatter_from_root(s, w);
  else if (s->state->nodes.of[p->root] == s->state->nodes.mine)
    rgi_receive(s, t, p->root, p->out, p->bytes);
  else
    scatter_to_member(s, w);
}

/* --- allgatherv ------------------------------------------------------------------------- */

/* Blocks one after another, node by node: where each rank's begins, and each node's. */
typedef struct {
  size_t *at, bytes;
  rgi_blocks nodes;
} packing;

static int pack(rgi_schedule *s, const rgi_problem *p, packing *k) {
  const rgi_nodes *nodes = &s->state->nodes;
  size_t *by_node = rgi_room_of(s, 2 * (size_t)nodes->count * sizeof *by_node);
  k->at = rgi_room_of(s, (size_t)all(s)->size * sizeof *k->at);
  k->bytes = 0;
  if (s->error)
    return 0;
  k->nodes = (rgi_blocks){0, by_node, by_node + nodes->count};
  for (int node = 0; node < nodes->count; node++) {
    by_node[node] = k->bytes;
    for (int i = 0; i < rgi_node_members(s, node); i++) {
      int rank = rgi_node_member(s, node, i);
      k->at[rank] = k->bytes;
      k->bytes += rgi_length(&p->out_blocks, rank);
    }
    by_node[nodes->count + node] = k->bytes - by_node[node];
  }
  return 1;
}

/* Whether the blocks already lie so where they are wanted. */
static int lies_packed(const rgi_problem *p, const packing *k, int n) {
  for (int i = 0; i < n; i++)
    if (rgi_at(&p->out_blocks, i) - rgi_at(&p->out_blocks, 0) != k->at[i])
      return 0;
  return 1;
}

/* The blocks of my node to its speaker. */
static void gather_here(rgi_schedule *s, const rgi_problem *p, const packing *k, char *room) {
  const rgi_team *inside = &s->state->nodes.inside;
  size_t *at = rgi_room_of(s, 2 * (size_t)inside->size * sizeof *at), *length = at + inside->size;
  rgi_problem here = {.in = p->in, .out = room, .bytes = p->bytes};
  const char *own = p->out + rgi_at(&p->out_blocks, all(s)->me);
  if (!at)
    return;
  for (int i = 0; i < inside->size; i++) {
    at[i] = k->at[rgi_team_rank(inside, i)];
    length[i] = rgi_length(&p->out_blocks, rgi_team_rank(inside, i));
  }
  here.out_blocks = (rgi_blocks){0, at, length};
  if (!here.in)
    here.in = own;
  rgi_round(s);
  rgi_build(s, RG_OP_GATHERV, s->state->forced[RG_OP_ALLGATHERV].inside, inside, &here);
  rgi_round(s);
}

void rgi_allgatherv_by_nodes(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_team speakers = rgi_speakers(s, -1);
  packing k;
  if (!pack(s, p, &k))
    return;
  int packed = lies_packed(p, &k, t->size);
  char *room = packed ? p->out + rgi_at(&p->out_blocks, 0) : rgi_room_of(s, k.bytes);
  gather_here(s, p, &k, room);
  rgi_problem between = {.out = room, .out_blocks = k.nodes};
  between.bytes = rgi_length(&k.nodes, s->state->nodes.mine);
  rgi_between(s, RG_OP_ALLGATHERV, &speakers, &between);
  rgi_node_bcast(s, RG_OP_ALLGATHERV, room, k.bytes, 0);
  for (int i = 0; i < t->size && !packed; i++)
    rgi_copy(s, p->out + rgi_at(&p->out_blocks, i), room + k.at[i], rgi_length(&p->out_blocks, i));
}

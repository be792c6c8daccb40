/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/hierarchy.h"

#include <string.h>

rgi_team rgi_speakers(rgi_schedule *s, int root) {
  const rgi_nodes *n = &s->state->nodes;
  rgi_team team = n->leaders;
  if (root < 0 || n->leaders.ranks[n->of[root]] == root)
    return team;
  int *ranks = rgi_room_of(s, (size_t)n->count * sizeof *ranks);
  if (!ranks)
    return team;
  memcpy(ranks, n->leaders.ranks, (size_t)n->count * sizeof *ranks);
  ranks[n->of[root]] = root;
  team.ranks = ranks;
  if (n->of[root] == n->mine)
    team.me = s->state->everyone.me == root ? n->mine : -1;
  return team;
}

int rgi_speaker_place(const rgi_schedule *s, const rgi_team *speakers) {
  return rgi_place_on_node(s->state, speakers->ranks[s->state->nodes.mine]);
}

void rgi_between(rgi_schedule *s, rg_operation op, const rgi_team *speakers, const rgi_problem *p) {
  if (speakers->me < 0)
    return;
  rgi_round(s);
  rgi_build(s, rgi_between_op(op), s->state->forced[op].between, speakers, p);
  rgi_round(s);
}

/* --- inside a node ----------------------------------------------------------------------- */

/* Shared memory, unless messages are asked for by name. */
static int by_memory(const rgi_schedule *s, rg_operation op) {
  return s->blocking && s->state->forced[op].inside < 0;
}

static void by_messages(rgi_schedule *s, rg_operation op, rg_operation part, const rgi_problem *p) {
  int asked = rgi_inside_op(op) == part ? s->state->forced[op].inside : -1;
  rgi_round(s);
  rgi_build(s, part, asked, &s->state->nodes.inside, p);
  rgi_round(s);
}

void rgi_node_barrier(rgi_schedule *s, rg_operation op) {
  rgi_problem p = {0};
  if (by_memory(s, op))
    rgi_inside(s, RGI_INSIDE_BARRIER, 0, NULL, NULL, 0);
  else
    by_messages(s, op, RG_OP_BARRIER, &p);
}

void rgi_node_bcast(rgi_schedule *s, rg_operation op, void *data, size_t bytes, int place) {
  rgi_problem p = {.out = data, .bytes = bytes, .root = place};
  if (by_memory(s, op))
    rgi_inside(s, RGI_INSIDE_BCAST, place, NULL, data, bytes);
  else
    by_messages(s, op, RG_OP_BCAST, &p);
}

void rgi_node_reduce(rgi_schedule *s, rg_operation op, const void *in, void *out, size_t bytes,
                     int place) {
  rgi_problem p = {.in = in, .out = out, .bytes = bytes, .root = place};
  if (by_memory(s, op) && s->reduction.typed.dense)
    rgi_inside(s, RGI_INSIDE_REDUCE, place, in, out, bytes);
  else
    by_messages(s, op, RG_OP_REDUCE, &p);
}

void rgi_node_gather(rgi_schedule *s, rg_operation op, const void *in, size_t bytes, void *out,
                     int place) {
  rgi_problem p = {.in = in, .out = out, .bytes = bytes, .root = place};
  p.out_blocks.each = bytes;
  if (by_memory(s, op))
    rgi_inside(s, RGI_INSIDE_GATHER, place, in, out, bytes);
  else
    by_messages(s, op, RG_OP_GATHER, &p);
}

void rgi_node_scatter(rgi_schedule *s, rg_operation op, const void *in, size_t bytes, void *out,
                      int place) {
  rgi_problem p = {.in = in, .out = out, .bytes = bytes, .root = place};
  p.in_blocks.each = bytes;
  if (by_memory(s, op))
    rgi_inside(s, RGI_INSIDE_SCATTER, place, in, out, bytes);
  else
    by_messages(s, op, RG_OP_SCATTER, &p);
}

/* --- who is where --------------------------------------------------------------------------- */

int rgi_node_members(const rgi_schedule *s, int node) {
  const rgi_nodes *n = &s->state->nodes;
  return n->first[node + 1] - n->first[node];
}

int rgi_node_member(const rgi_schedule *s, int node, int i) {
  const rgi_nodes *n = &s->state->nodes;
  return n->by_node[n->first[node] + i];
}

rgi_blocks rgi_node_blocks(rgi_schedule *s, size_t each_member) {
  int n = s->state->nodes.count;
  size_t *at = rgi_room_of(s, 2 * (size_t)n * sizeof *at), *length = at + n;
  for (int i = 0; i < n && at; i++) {
    at[i] = (size_t)s->state->nodes.first[i] * each_member;
    length[i] = (size_t)rgi_node_members(s, i) * each_member;
  }
  return (rgi_blocks){each_member, at, length};
}

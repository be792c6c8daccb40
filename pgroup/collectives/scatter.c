/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Scatter. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/hierarchy.h"
#include "collectives/uneven.h"
#include "formation/tree.h"

static void linear(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  if (t->me != p->root) {
    rgi_receive(s, t, p->root, p->out, p->bytes);
    return;
  }
  for (int i = 0; i < t->size; i++)
    if (i != p->root)
      rgi_send(s, t, i, p->in + rgi_at(&p->in_blocks, i), rgi_length(&p->in_blocks, i));
  if (p->out)
    rgi_copy(s, p->out, p->in + rgi_at(&p->in_blocks, p->root), p->bytes);
}

/* The root's blocks in the order of ranks counted from the root. */
static const char *turn(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  if (p->root == 0)
    return p->in;
  size_t lower = (size_t)p->root * p->bytes, upper = (size_t)(t->size - p->root) * p->bytes;
  char *room = rgi_room_of(s, lower + upper);
  rgi_copy(s, room, p->in + lower, upper);
  rgi_copy(s, room + upper, p->in, lower);
  return room;
}

/* Recursive halving: down a binomial tree, a child getting what its subtree
 * needs. */
static void halving(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int child[RGI_TREE_CHILDREN], n = t->size, v = (t->me - p->root + n) % n;
  int children = rgi_tree_children(v, n, child), parent = rgi_tree_parent(v);
  long long end = v ? v + (v & -v) : n;
  size_t held = (size_t)((end < n ? end : n) - v);
  const char *blocks;
  if (parent >= 0) {
    char *room = children ? rgi_room_of(s, held * p->bytes) : p->out;
    rgi_receive(s, t, (parent + p->root) % n, room, held * p->bytes);
    rgi_round(s);
    blocks = room;
  } else {
    blocks = turn(s, t, p);
  }
  for (int i = children - 1; i >= 0; i--) {
    size_t from = (size_t)(child[i] - v);
    rgi_send(s, t, (child[i] + p->root) % n, blocks + from * p->bytes, (held - from) * p->bytes);
    held = from;
  }
  if (p->out)
    rgi_copy(s, p->out, blocks, p->bytes);
}

static void hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_team speakers = rgi_speakers(s, p->root);
  const rgi_nodes *nodes = &s->state->nodes;
  size_t mine = (size_t)rgi_node_members(s, nodes->mine) * p->bytes;
  char *room = speakers.me >= 0 ? rgi_room_of(s, mine) : NULL, *all = NULL;
  rgi_problem between = {.in = p->in, .out = room, .bytes = mine, .root = nodes->of[p->root]};
  if (t->me == p->root && !nodes->in_order) {
    between.in = all = rgi_room_of(s, (size_t)t->size * p->bytes);
    for (int i = 0; i < t->size; i++)
      rgi_copy(s, all + (size_t)i * p->bytes, p->in + (size_t)nodes->by_node[i] * p->bytes,
               p->bytes);
  }
  between.in_blocks = rgi_node_blocks(s, p->bytes);
  rgi_between(s, RG_OP_SCATTER, &speakers, &between);
  rgi_node_scatter(s, RG_OP_SCATTER, room, p->bytes, p->out ? p->out : rgi_room_of(s, p->bytes),
                   rgi_speaker_place(s, &speakers));
}

static void shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  (void)t;
  rgi_inside(s, RGI_INSIDE_SCATTER, p->root, p->in, p->out ? p->out : rgi_room_of(s, p->bytes),
             p->bytes);
}

const rgi_algorithm rgi_scatter_algorithms[] = {
    {"linear", linear, RGI_UNEVEN, RGI_BLOCK_COST},
    {"halving", halving, 0, RGI_DOUBLED_COST},
    {"hierarchical", hierarchical, RGI_NODES, NULL, "between nodes + inside the node"},
    {"shared", shared, RGI_ONE_NODE | RGI_BEST, RGI_DOUBLED_COST},
    {0}};

const rgi_algorithm rgi_scatterv_algorithms[] = {{"linear", linear, RGI_UNEVEN, RGI_BLOCK_COST},
                                                 {"hierarchical", rgi_scatterv_by_nodes,
                                                  RGI_NODES | RGI_UNEVEN, NULL,
                                                  "between nodes + inside the node"},
                                                 {0}};

/* --- what the user calls ----------------------------------------------------------------- */

int rg_scatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  rgi_call c = rgi_blocks_call(RG_OP_SCATTER, __func__, g, send, send_count, send_type, recv,
                               recv_count, recv_type, root);
  return rgi_call_run(&c, NULL);
}

int rg_iscatter(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
                rg_request *request) {
  rgi_call c = rgi_blocks_call(RG_OP_SCATTER, __func__, g, send, send_count, send_type, recv,
                               recv_count, recv_type, root);
  return RGI_START(c, request);
}

static rgi_call scatterv_call(const char *name, rg_group g, const void *send,
                              const MPI_Count send_counts[], const MPI_Aint displs[],
                              MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                              MPI_Datatype recv_type, int root) {
  rgi_call c = rgi_blocks_call(RG_OP_SCATTERV, name, g, send, 0, send_type, recv, recv_count,
                               recv_type, root);
  c.send_counts = send_counts;
  c.send_displs = displs;
  return c;
}

int rg_scatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                const MPI_Aint displs[], MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                MPI_Datatype recv_type, int root) {
  rgi_call c = scatterv_call(__func__, g, send, send_counts, displs, send_type, recv, recv_count,
                             recv_type, root);
  return rgi_call_run(&c, NULL);
}

int rg_iscatterv(rg_group g, const void *send, const MPI_Count send_counts[],
                 const MPI_Aint displs[], MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                 MPI_Datatype recv_type, int root, rg_request *request) {
  rgi_call c = scatterv_call(__func__, g, send, send_counts, displs, send_type, recv, recv_count,
                             recv_type, root);
  return RGI_START(c, request);
}

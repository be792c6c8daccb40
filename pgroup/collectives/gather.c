/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Gather. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/hierarchy.h"
#include "collectives/uneven.h"
#include "formation/tree.h"

static void linear(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  if (t->me != p->root) {
    rgi_send(s, t, p->root, p->in, p->bytes);
    return;
  }
  for (int i = 0; i < t->size; i++)
    if (i != p->root)
      rgi_receive(s, t, i, p->out + rgi_at(&p->out_blocks, i), rgi_length(&p->out_blocks, i));
  if (p->in)
    rgi_copy(s, p->out + rgi_at(&p->out_blocks, p->root), p->in, p->bytes);
}

/* Blocks in the order of ranks counted from the root, to the order of ranks. */
static void turn_back(rgi_schedule *s, const rgi_team *t, const rgi_problem *p, const char *room) {
  size_t upper = (size_t)(t->size - p->root) * p->bytes;
  rgi_copy(s, p->out + (size_t)p->root * p->bytes, room, upper);
  rgi_copy(s, p->out, room + upper, (size_t)p->root * p->bytes);
}

/* Up a binomial tree, each sending what its subtree holds: recursive doubling. */
static void tree(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int child[RGI_TREE_CHILDREN], n = t->size, v = (t->me - p->root + n) % n;
  int children = rgi_tree_children(v, n, child), parent = rgi_tree_parent(v);
  long long end = v ? v + (v & -v) : n;
  size_t held = (size_t)((end < n ? end : n) - v);
  const char *own = p->in ? p->in : p->out + (size_t)p->root * p->bytes;
  char *room = NULL;
  if (children) {
    room = v == 0 && p->root == 0 ? p->out : rgi_room_of(s, held * p->bytes);
    rgi_copy(s, room, own, p->bytes);
  }
  for (int i = 0; i < children; i++) {
    long long stop = 2LL * child[i] - v; /* where the child's subtree ends */
    size_t blocks = (size_t)((stop < n ? stop : n) - child[i]);
    rgi_receive(s, t, (child[i] + p->root) % n, room + (size_t)(child[i] - v) * p->bytes,
                blocks * p->bytes);
  }
  rgi_round(s);
  if (parent >= 0)
    rgi_send(s, t, (parent + p->root) % n, room ? room : own, held * p->bytes);
  else if (!room)
    rgi_copy(s, p->out, own, p->bytes);
  else if (room != p->out)
    turn_back(s, t, p, room);
}

static void hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_team speakers = rgi_speakers(s, p->root);
  const rgi_nodes *nodes = &s->state->nodes;
  int mine = rgi_node_members(s, nodes->mine), is_root = t->me == p->root;
  const char *own = p->in ? p->in : p->out + (size_t)p->root * p->bytes;
  char *room = speakers.me >= 0 ? rgi_room_of(s, (size_t)mine * p->bytes) : NULL, *all = p->out;
  rgi_problem between = {.in = room, .bytes = (size_t)mine * p->bytes};
  rgi_node_gather(s, RG_OP_GATHER, own, p->bytes, room, rgi_speaker_place(s, &speakers));
  if (is_root && !nodes->in_order)
    all = rgi_room_of(s, (size_t)t->size * p->bytes);
  between.out = all;
  between.out_blocks = rgi_node_blocks(s, p->bytes);
  between.root = nodes->of[p->root];
  rgi_between(s, RG_OP_GATHER, &speakers, &between);
  for (int i = 0; i < t->size && is_root && all != p->out; i++)
    rgi_copy(s, p->out + (size_t)nodes->by_node[i] * p->bytes, all + (size_t)i * p->bytes,
             p->bytes);
}

static void shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  const char *own = p->in ? p->in : p->out + (size_t)t->me * p->bytes;
  rgi_inside(s, RGI_INSIDE_GATHER, p->root, own, p->out, p->bytes);
}

const rgi_algorithm rgi_gather_algorithms[] = {
    {"linear", linear, RGI_UNEVEN, RGI_BLOCK_COST},
    {"tree", tree, 0, RGI_DOUBLED_COST},
    {"hierarchical", hierarchical, RGI_NODES, NULL, "inside the node + between nodes"},
    {"shared", shared, RGI_ONE_NODE | RGI_BEST, RGI_DOUBLED_COST},
    {0}};

const rgi_algorithm rgi_gatherv_algorithms[] = {{"linear", linear, RGI_UNEVEN, RGI_BLOCK_COST},
                                                {"hierarchical", rgi_gatherv_by_nodes,
                                                 RGI_NODES | RGI_UNEVEN, NULL,
                                                 "inside the node + between nodes"},
                                                {0}};

/* --- what the user calls ----------------------------------------------------------------- */

int rg_gather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
              void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  rgi_call c = rgi_blocks_call(RG_OP_GATHER, __func__, g, send, send_count, send_type, recv,
                               recv_count, recv_type, root);
  return rgi_call_run(&c, NULL);
}

int rg_igather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, MPI_Count recv_count, MPI_Datatype recv_type, int root,
               rg_request *request) {
  rgi_call c = rgi_blocks_call(RG_OP_GATHER, __func__, g, send, send_count, send_type, recv,
                               recv_count, recv_type, root);
  return RGI_START(c, request);
}

static rgi_call gatherv_call(const char *name, rg_group g, const void *send, MPI_Count send_count,
                             MPI_Datatype send_type, void *recv, const MPI_Count recv_counts[],
                             const MPI_Aint displs[], MPI_Datatype recv_type, int root) {
  rgi_call c = rgi_blocks_call(RG_OP_GATHERV, name, g, send, send_count, send_type, recv, 0,
                               recv_type, root);
  c.recv_counts = recv_counts;
  c.recv_displs = displs;
  return c;
}

int rg_gatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
               void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
               MPI_Datatype recv_type, int root) {
  rgi_call c = gatherv_call(__func__, g, send, send_count, send_type, recv, recv_counts, displs,
                            recv_type, root);
  return rgi_call_run(&c, NULL);
}

int rg_igatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                MPI_Datatype recv_type, int root, rg_request *request) {
  rgi_call c = gatherv_call(__func__, g, send, send_count, send_type, recv, recv_counts, displs,
                            recv_type, root);
  return RGI_START(c, request);
}

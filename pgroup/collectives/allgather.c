/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Allgather. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/hierarchy.h"
#include "collectives/uneven.h"

static char *block(const rgi_problem *p, int i) {
  return p->out + rgi_at(&p->out_blocks, i);
}

static void put_own(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  if (p->in)
    rgi_copy(s, block(p, t->me), p->in, p->bytes);
}

/* Everybody to everybody. */
static void linear(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  put_own(s, t, p);
  for (int k = 1; k < t->size; k++) {
    int to = (t->me + k) % t->size, from = (t->me - k + t->size) % t->size;
    rgi_receive(s, t, from, block(p, from), rgi_length(&p->out_blocks, from));
    rgi_send(s, t, to, block(p, t->me), p->bytes);
  }
}

/* For a power of two: partners swap all that they have. */
static void double_in_place(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  put_own(s, t, p);
  for (int d = 1; d < t->size; d *= 2) {
    int other = t->me ^ d, mine = t->me & -d, theirs = other & -d;
    rgi_send(s, t, other, block(p, mine), (size_t)d * p->bytes);
    rgi_receive(s, t, other, block(p, theirs), (size_t)d * p->bytes);
    rgi_round(s);
  }
}

/* Recursive doubling; for other numbers in Bruck's manner: everybody's blocks
 * begin with its own, and the last round moves only what is missing. */
static void doubling(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int n = t->size, me = t->me;
  size_t m = p->bytes;
  if ((n & (n - 1)) == 0) {
    double_in_place(s, t, p);
    return;
  }
  char *room = rgi_room_of(s, (size_t)n * m);
  rgi_copy(s, room, p->in ? p->in : block(p, me), m);
  for (long long d = 1; d < n; d *= 2) {
    size_t blocks = (size_t)(d < n - d ? d : n - d);
    rgi_send(s, t, (int)((me - d + n) % n), room, blocks * m);
    rgi_receive(s, t, (int)((me + d) % n), room + (size_t)d * m, blocks * m);
    rgi_round(s);
  }
  rgi_copy(s, block(p, me), room, (size_t)(n - me) * m);
  rgi_copy(s, p->out, room + (size_t)(n - me) * m, (size_t)me * m);
}

static void ring(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int n = t->size, to = (t->me + 1) % n, from = (t->me - 1 + n) % n;
  put_own(s, t, p);
  for (int k = 0; k < n - 1; k++) {
    int out = (t->me - k + n) % n, in = (t->me - k - 1 + n) % n;
    rgi_send(s, t, to, block(p, out), rgi_length(&p->out_blocks, out));
    rgi_receive(s, t, from, block(p, in), rgi_length(&p->out_blocks, in));
    rgi_round(s);
  }
}

static void hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_team speakers = rgi_speakers(s, -1);
  const rgi_nodes *nodes = &s->state->nodes;
  size_t m = p->bytes, all_bytes = (size_t)t->size * m;
  int mine = rgi_node_members(s, nodes->mine);
  /* The own block is moved out of the way: out is filled node by node. */
  char *all = nodes->in_order ? p->out : rgi_room_of(s, all_bytes);
  const char *own = p->in ? p->in : block(p, t->me);
  char *here = rgi_room_of(s, (size_t)mine * m);
  rgi_problem between = {.in = here, .out = all, .bytes = (size_t)mine * m};
  rgi_node_gather(s, RG_OP_ALLGATHER, own, m, here, 0);
  between.out_blocks = rgi_node_blocks(s, m);
  rgi_between(s, RG_OP_ALLGATHER, &speakers, &between);
  rgi_node_bcast(s, RG_OP_ALLGATHER, all, all_bytes, 0);
  for (int i = 0; i < t->size && all != p->out; i++)
    rgi_copy(s, block(p, nodes->by_node[i]), all + (size_t)i * m, m);
}

static void shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_inside(s, RGI_INSIDE_ALLGATHER, 0, p->in ? p->in : block(p, t->me), p->out, p->bytes);
}

const rgi_algorithm rgi_allgather_algorithms[] = {
    {"linear", linear, RGI_UNEVEN, RGI_BLOCK_COST},
    {"doubling", doubling, 0, RGI_DOUBLED_COST},
    {"ring", ring, RGI_UNEVEN, RGI_BLOCK_COST},
    {"hierarchical", hierarchical, RGI_NODES, NULL,
     "inside the node + between nodes + inside the node"},
    {"shared", shared, RGI_ONE_NODE | RGI_BEST, RGI_DOUBLED_COST},
    {0}};

const rgi_algorithm rgi_allgatherv_algorithms[] = {
    {"ring", ring, RGI_UNEVEN, RGI_BLOCK_COST},
    {"linear", linear, RGI_UNEVEN, RGI_BLOCK_COST},
    {"hierarchical", rgi_allgatherv_by_nodes, RGI_NODES | RGI_UNEVEN, NULL,
     "inside the node + between nodes + inside the node"},
    {0}};

/* --- what the user calls ----------------------------------------------------------------- */

int rg_allgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type) {
  rgi_call c = rgi_blocks_call(RG_OP_ALLGATHER, __func__, g, send, send_count, send_type, recv,
                               recv_count, recv_type, 0);
  return rgi_call_run(&c, NULL);
}

int rg_iallgather(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                  void *recv, MPI_Count recv_count, MPI_Datatype recv_type, rg_request *request) {
  rgi_call c = rgi_blocks_call(RG_OP_ALLGATHER, __func__, g, send, send_count, send_type, recv,
                               recv_count, recv_type, 0);
  return RGI_START(c, request);
}

static rgi_call allgatherv_call(const char *name, rg_group g, const void *send,
                                MPI_Count send_count, MPI_Datatype send_type, void *recv,
                                const MPI_Count recv_counts[], const MPI_Aint displs[],
                                MPI_Datatype recv_type) {
  rgi_call c = rgi_blocks_call(RG_OP_ALLGATHERV, name, g, send, send_count, send_type, recv, 0,
                               recv_type, 0);
  c.recv_counts = recv_counts;
  c.recv_displs = displs;
  return c;
}

int rg_allgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                  void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                  MPI_Datatype recv_type) {
  rgi_call c = allgatherv_call(__func__, g, send, send_count, send_type, recv, recv_counts, displs,
                               recv_type);
  return rgi_call_run(&c, NULL);
}

int rg_iallgatherv(rg_group g, const void *send, MPI_Count send_count, MPI_Datatype send_type,
                   void *recv, const MPI_Count recv_counts[], const MPI_Aint displs[],
                   MPI_Datatype recv_type, rg_request *request) {
  rgi_call c = allgatherv_call(__func__, g, send, send_count, send_type, recv, recv_counts, displs,
                               recv_type);
  return RGI_START(c, request);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Allreduce: all members get the same bits, by whichever algorithm. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/fold.h"
#include "collectives/hierarchy.h"
#include "collectives/straight.h"

/* To rank 0 and from there to all. */
static void tree(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_problem part = *p;
  part.root = 0;
  rgi_reduce_algorithms[1].build(s, t, &part);
  rgi_round(s);
  rgi_bcast_algorithms[1].build(s, t, &part);
}

/* Recursive doubling: partners swap what they have so far. */
static void butterfly(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_fold f = rgi_fold_of(t, -1);
  char *room = rgi_room_of(s, p->bytes);
  rgi_copy(s, p->out, p->in, p->bytes);
  rgi_fold_in(s, t, &f, p->out, room, p->bytes);
  for (int bit = 1; bit < f.size && f.me >= 0; bit *= 2) {
    int other = rgi_fold_rank(&f, f.me ^ bit);
    rgi_send(s, t, other, p->out, p->bytes);
    rgi_receive(s, t, other, room, p->bytes);
    rgi_round(s);
    if (other < t->me)
      rgi_right(s, room, p->out, p->bytes);
    else
      rgi_left(s, p->out, room, p->bytes);
  }
  rgi_fold_out(s, t, &f, p->out, p->bytes);
}

/* Reduce-scatter by recursive halving, and the same way back. */
static void rabenseifner(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_fold f = rgi_fold_of(t, -1);
  rgi_part part[RGI_HALVINGS];
  size_t unit = s->reduction.typed.size, units = unit ? p->bytes / unit : 0;
  char *room = rgi_room_of(s, p->bytes);
  int k = 0;
  rgi_copy(s, p->out, p->in, p->bytes);
  rgi_fold_in(s, t, &f, p->out, room, p->bytes);
  if (f.me >= 0)
    rgi_halve(s, t, &f, p->out, room, units, unit, NULL, part);
  while (1 << k < f.size)
    k++;
  while (k-- > 0 && f.me >= 0) {
    int other = rgi_fold_rank(&f, f.me ^ 1 << k);
    rgi_part mine = part[k + 1], theirs = rgi_other_half(part, k);
    rgi_send(s, t, other, p->out + mine.low * unit, (mine.high - mine.low) * unit);
    rgi_receive(s, t, other, p->out + theirs.low * unit, (theirs.high - theirs.low) * unit);
    rgi_round(s);
  }
  rgi_fold_out(s, t, &f, p->out, p->bytes);
}

/* Where piece i of n begins. */
static size_t piece_at(const rgi_schedule *s, const rgi_problem *p, int i, int n) {
  size_t unit = s->reduction.typed.size, units = unit ? p->bytes / unit : 0;
  size_t each = units / (size_t)n, more = units % (size_t)n;
  return ((size_t)i * each + ((size_t)i < more ? (size_t)i : more)) * unit;
}

/* Pieces go around, each gathering all operands; then once more, to be known. */
static void ring(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  int n = t->size, to = (t->me + 1) % n, from = (t->me - 1 + n) % n;
  char *room = rgi_room_of(s, piece_at(s, p, 1, n));
  rgi_copy(s, p->out, p->in, p->bytes);
  for (int k = 0; k < 2 * (n - 1); k++) {
    int out = (t->me - k + 2 * n) % n, in = (t->me - k - 1 + 2 * n) % n, adds = k < n - 1;
    size_t at = piece_at(s, p, in, n), bytes = piece_at(s, p, in + 1, n) - at;
    size_t sent = piece_at(s, p, out, n);
    rgi_send(s, t, to, p->out + sent, piece_at(s, p, out + 1, n) - sent);
    rgi_receive(s, t, from, adds ? room : p->out + at, bytes);
    rgi_round(s);
    if (adds)
      rgi_left(s, p->out + at, room, bytes);
  }
}

static void hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_team speakers = rgi_speakers(s, -1);
  rgi_problem between = *p;
  (void)t;
  between.in = p->out;
  rgi_node_reduce(s, RG_OP_ALLREDUCE, p->in, p->out, p->bytes, 0);
  rgi_between(s, RG_OP_ALLREDUCE, &speakers, &between);
  rgi_node_bcast(s, RG_OP_ALLREDUCE, p->out, p->bytes, 0);
}

static void shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  (void)t;
  rgi_inside(s, RGI_INSIDE_ALLREDUCE, 0, p->in, p->out, p->bytes);
}

static double tree_cost(const rgi_load *l) {
  return rgi_lg(l->p) * (2 * l->ts + l->n * (2 * l->tw + l->tc));
}

static double ring_cost(const rgi_load *l) {
  return 2 * (l->p - 1) * l->ts + (l->p - 1) / l->p * l->n * (2 * l->tw + l->tc);
}

const rgi_algorithm rgi_allreduce_algorithms[] = {
    {"tree", tree, 0, tree_cost, "lg p (2 t_s + n (2 t_w + t_c))"},
    {"butterfly", butterfly, 0, RGI_FOLD_TREE_COST},
    {"rabenseifner", rabenseifner, 0, RGI_RABENSEIFNER_COST},
    {"ring", ring, RGI_COMMUTES, ring_cost, "2 (p - 1) t_s + (p - 1)/p n (2 t_w + t_c)"},
    {"hierarchical", hierarchical, RGI_NODES, NULL,
     "inside the node + between nodes + inside the node"},
    {"shared", shared, RGI_ONE_NODE | RGI_BEST, RGI_SHARED_FOLD_COST},
    {0}};

int rg_allreduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                 MPI_Op op) {
  const void *from = send == MPI_IN_PLACE ? recv : send;
  rgi_local *l = rgi_straight_reduction(g, from, recv, count, type, op, 0);
  if (l)
    return rgi_local_allreduce(l, from, recv, (size_t)count, type, op, __func__);
  rgi_call c = rgi_fold_call(RG_OP_ALLREDUCE, __func__, g, send, recv, count, type, op, 0);
  return rgi_call_run(&c, NULL);
}

int rg_iallreduce(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                  MPI_Op op, rg_request *request) {
  rgi_call c = rgi_fold_call(RG_OP_ALLREDUCE, __func__, g, send, recv, count, type, op, 0);
  return RGI_START(c, request);
}

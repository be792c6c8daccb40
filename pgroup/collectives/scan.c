/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Scan and exscan. */
#include "base/error.h"
#include "collectives/call.h"
#include "collectives/hierarchy.h"

/* --- scan ----------------------------------------------------------------------------- */

static void linear(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  rgi_copy(s, p->out, p->in, p->bytes);
  if (t->me > 0) {
    char *before = rgi_room_of(s, p->bytes);
    rgi_receive(s, t, t->me - 1, before, p->bytes);
    rgi_round(s);
    rgi_right(s, before, p->out, p->bytes);
  }
  if (t->me < t->size - 1)
    rgi_send(s, t, t->me + 1, p->out, p->bytes);
}

/* After round k, out holds the last 2^k operands up to the own one. */
static void doubling(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  char *before = rgi_room_of(s, p->bytes);
  rgi_copy(s, p->out, p->in, p->bytes);
  for (long long d = 1; d < t->size; d *= 2) {
    if (t->me + d < t->size)
      rgi_send(s, t, (int)(t->me + d), p->out, p->bytes);
    if (t->me >= d)
      rgi_receive(s, t, (int)(t->me - d), before, p->bytes);
    rgi_round(s);
    if (t->me >= d)
      rgi_right(s, before, p->out, p->bytes);
  }
}

/* Operands [0, last] of all, combined. */
static void combine_first(rgi_schedule *s, const rgi_problem *p, const char *all, int last) {
  rgi_copy(s, p->out, all + (size_t)last * p->bytes, p->bytes);
  for (int i = last - 1; i >= 0; i--)
    rgi_right(s, all + (size_t)i * p->bytes, p->out, p->bytes);
}

static void shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  char *all = rgi_room_of(s, (size_t)t->size * p->bytes);
  rgi_inside(s, RGI_INSIDE_ALLGATHER, 0, p->in, all, p->bytes);
  combine_first(s, p, all, t->me);
}

/* --- exscan --------------------------------------------------------------------------- */

static void exscan_linear(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  const char *next = p->in;
  if (t->me > 0) {
    rgi_receive(s, t, t->me - 1, p->out, p->bytes);
    rgi_round(s);
  }
  if (t->me == t->size - 1)
    return;
  if (t->me > 0) {
    char *sum = rgi_room_of(s, p->bytes);
    rgi_copy(s, sum, p->in, p->bytes);
    rgi_right(s, p->out, sum, p->bytes);
    next = sum;
  }
  rgi_send(s, t, t->me + 1, next, p->bytes);
}

/* Everybody takes its neighbour's operand; ranks 1 and up scan these. */
static void exscan_doubling(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  if (t->me < t->size - 1)
    rgi_send(s, t, t->me + 1, p->in, p->bytes);
  if (t->me == 0)
    return;
  int *ranks = rgi_room_of(s, (size_t)t->size * sizeof *ranks);
  char *operand = rgi_room_of(s, p->bytes);
  rgi_receive(s, t, t->me - 1, operand, p->bytes);
  rgi_round(s);
  for (int i = 1; i < t->size && ranks; i++)
    ranks[i - 1] = rgi_team_rank(t, i);
  rgi_team others = {t->size - 1, t->me - 1, ranks};
  rgi_problem scan = *p;
  scan.in = operand;
  if (ranks)
    doubling(s, &others, &scan);
}

static void exscan_shared(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  char *all = rgi_room_of(s, (size_t)t->size * p->bytes);
  rgi_inside(s, RGI_INSIDE_ALLGATHER, 0, p->in, all, p->bytes);
  if (t->me > 0)
    combine_first(s, p, all, t->me - 1);
}

/* --- both, by nodes: consecutive ranks on each ----------------------------------------- */

/* Each node's members scan; its last one's sum, which is the node's, goes to the
 * next nodes; what came before the node is put in front of all its results. */
static void by_nodes(rgi_schedule *s, const rgi_team *t, const rgi_problem *p, int inclusive) {
  const rgi_nodes *n = &s->state->nodes;
  const rgi_team *inside = &n->inside;
  int *lasts = rgi_room_of(s, (size_t)n->count * sizeof *lasts), is_last;
  char *sum = rgi_room_of(s, p->bytes), *before = rgi_room_of(s, p->bytes);
  if (s->error)
    return;
  for (int i = 0; i < n->count; i++)
    lasts[i] = rgi_node_member(s, i, rgi_node_members(s, i) - 1);
  is_last = lasts[n->mine] == t->me;
  rgi_team speakers = {n->count, is_last ? n->mine : -1, lasts};
  rgi_problem scan = {.in = p->in, .out = sum, .bytes = p->bytes};
  rgi_problem between = {.in = sum, .out = before, .bytes = p->bytes};
  doubling(s, inside, &scan);
  rgi_round(s);
  if (is_last)
    exscan_doubling(s, &speakers, &between);
  rgi_round(s);
  if (n->mine > 0)
    rgi_node_bcast(s, RG_OP_SCAN, before, p->bytes, inside->size - 1);
  const char *result = sum;
  if (!inclusive) { /* what the one before me has */
    char *shifted = rgi_room_of(s, p->bytes);
    rgi_round(s);
    if (!is_last)
      rgi_send(s, inside, inside->me + 1, sum, p->bytes);
    if (inside->me > 0)
      rgi_receive(s, inside, inside->me - 1, shifted, p->bytes);
    rgi_round(s);
    result = shifted;
  }
  if (!inclusive && inside->me == 0) {
    if (n->mine > 0)
      rgi_copy(s, p->out, before, p->bytes);
    return;
  }
  rgi_copy(s, p->out, result, p->bytes);
  if (n->mine > 0)
    rgi_right(s, before, p->out, p->bytes);
}

static void hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  by_nodes(s, t, p, 1);
}

static void exscan_hierarchical(rgi_schedule *s, const rgi_team *t, const rgi_problem *p) {
  by_nodes(s, t, p, 0);
}

static double exscan_doubling_cost(const rgi_load *l) {
  return rgi_fold_tree_cost(l) + l->ts + l->n * l->tw;
}

static double shared_cost(const rgi_load *l) {
  return rgi_lg(l->p) * l->ts + l->p * l->n * (l->tw + l->tc);
}

#define SHARED "lg p t_s + p n (t_w + t_c)"
#define NODES "inside the node + between nodes + inside the node"

const rgi_algorithm rgi_scan_algorithms[] = {
    {"linear", linear, 0, RGI_FOLD_COST},
    {"doubling", doubling, 0, RGI_FOLD_TREE_COST},
    {"hierarchical", hierarchical, RGI_NODES | RGI_ORDER, NULL, NODES},
    {"shared", shared, RGI_ONE_NODE, shared_cost, SHARED},
    {0}};

const rgi_algorithm rgi_exscan_algorithms[] = {
    {"linear", exscan_linear, 0, RGI_FOLD_COST},
    {"doubling", exscan_doubling, 0, exscan_doubling_cost, "(1 + lg p) (t_s + n t_w) + lg p n t_c"},
    {"hierarchical", exscan_hierarchical, RGI_NODES | RGI_ORDER, NULL, NODES},
    {"shared", exscan_shared, RGI_ONE_NODE, shared_cost, SHARED},
    {0}};

/* --- what the user calls ----------------------------------------------------------------- */

int rg_scan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
            MPI_Op op) {
  rgi_call c = rgi_fold_call(RG_OP_SCAN, __func__, g, send, recv, count, type, op, 0);
  return rgi_call_run(&c, NULL);
}

int rg_iscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
             MPI_Op op, rg_request *request) {
  rgi_call c = rgi_fold_call(RG_OP_SCAN, __func__, g, send, recv, count, type, op, 0);
  return RGI_START(c, request);
}

int rg_exscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
              MPI_Op op) {
  rgi_call c = rgi_fold_call(RG_OP_EXSCAN, __func__, g, send, recv, count, type, op, 0);
  return rgi_call_run(&c, NULL);
}

int rg_iexscan(rg_group g, const void *send, void *recv, MPI_Count count, MPI_Datatype type,
               MPI_Op op, rg_request *request) {
  rgi_call c = rgi_fold_call(RG_OP_EXSCAN, __func__, g, send, recv, count, type, op, 0);
  return RGI_START(c, request);
}

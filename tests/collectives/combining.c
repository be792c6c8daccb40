/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations that combine data. */
#include <stdlib.h>
#include <string.h>

#include "tests/collectives/cases.h"
#include "tests/collectives/suites.h"

#define TURNS 8

static rg_request request;

/* One vector of a drawn operation on this rank. */
typedef struct {
  const op_case *o;
  const type_case *t;
  long long n;
  int in_place;
  char *send, *recv, *want;
} vector;

static void begin(vector *v, int rank, long long n) {
  v->o = &ops[draw(OPS)];
  v->t = &types[v->o->type];
  v->n = n;
  v->in_place = draw(3) == 0;
  v->send = blank(v->t, n);
  v->recv = blank(v->t, n);
  v->want = blank(v->t, n);
  fill(v->t, v->send, 0, rank, 0, n);
  say("%lld, %s, in place %d", n, v->o->name, v->in_place);
}

/* Takes the send buffer, in place what recv holds before. */
static const void *input(vector *v, int in_place) {
  if (!in_place)
    return v->send;
  memcpy(v->recv, v->send, (size_t)v->n * v->t->extent);
  return MPI_IN_PLACE;
}

static void finish(vector *v) {
  checked(same_memory(v->t, v->recv, v->want, v->n));
  free(v->send);
  free(v->recv);
}

static void reduce(rg_group g, int rank, int size, int blocking) {
  vector v;
  int root = draw(size);
  begin(&v, rank, draw_count());
  const void *in = input(&v, v.in_place && rank == root);
  if (rank == root)
    fill_combined(v.o, v.want, 0, 0, size - 1, 0, v.n);
  ended(blocking ? rg_reduce(g, in, v.recv, v.n, v.t->type, v.o->op, root)
                 : rg_ireduce(g, in, v.recv, v.n, v.t->type, v.o->op, root, &request),
        &request);
  finish(&v);
}

void test_reduce(void) {
  each_algorithm(RG_OP_REDUCE, 2 * TURNS, reduce);
}

static void allreduce(rg_group g, int rank, int size, int blocking) {
  vector v;
  begin(&v, rank, draw_count());
  const void *in = input(&v, v.in_place);
  fill_combined(v.o, v.want, 0, 0, size - 1, 0, v.n);
  ended(blocking ? rg_allreduce(g, in, v.recv, v.n, v.t->type, v.o->op)
                 : rg_iallreduce(g, in, v.recv, v.n, v.t->type, v.o->op, &request),
        &request);
  finish(&v);
}

void test_allreduce(void) {
  each_algorithm(RG_OP_ALLREDUCE, TURNS, allreduce);
}

static void scan(rg_group g, int rank, int size, int blocking) {
  vector v;
  (void)size;
  begin(&v, rank, draw_count());
  const void *in = input(&v, v.in_place);
  fill_combined(v.o, v.want, 0, 0, rank, 0, v.n);
  ended(blocking ? rg_scan(g, in, v.recv, v.n, v.t->type, v.o->op)
                 : rg_iscan(g, in, v.recv, v.n, v.t->type, v.o->op, &request),
        &request);
  finish(&v);
}

void test_scan(void) {
  each_algorithm(RG_OP_SCAN, TURNS, scan);
}

static void exscan(rg_group g, int rank, int size, int blocking) {
  vector v;
  (void)size;
  begin(&v, rank, draw_count());
  const void *in = input(&v, v.in_place);
  if (rank > 0)
    fill_combined(v.o, v.want, 0, 0, rank - 1, 0, v.n);
  else
    memcpy(v.want, v.recv, (size_t)v.n * v.t->extent); /* left alone */
  ended(blocking ? rg_exscan(g, in, v.recv, v.n, v.t->type, v.o->op)
                 : rg_iexscan(g, in, v.recv, v.n, v.t->type, v.o->op, &request),
        &request);
  finish(&v);
}

void test_exscan(void) {
  each_algorithm(RG_OP_EXSCAN, TURNS, exscan);
}

/* In place the result lies at the beginning of what was the input. */
static void scatter_reduced(rg_group g, int rank, int size, int blocking, int block) {
  MPI_Count counts[RANKS_MOST], all = 0, first = 0, even = draw_count() / (1 + size / 4);
  vector v;
  for (int i = 0; i < size; i++) {
    counts[i] = block ? even : draw_count() / (1 + size / 4);
    first += i < rank ? counts[i] : 0;
    all += counts[i];
  }
  begin(&v, rank, all);
  const void *in = input(&v, v.in_place);
  memcpy(v.want, v.recv, (size_t)v.n * v.t->extent);
  fill_combined(v.o, v.want, 0, 0, size - 1, first, counts[rank]);
  if (block)
    ended(blocking ? rg_reduce_scatter_block(g, in, v.recv, even, v.t->type, v.o->op)
                   : rg_ireduce_scatter_block(g, in, v.recv, even, v.t->type, v.o->op, &request),
          &request);
  else
    ended(blocking ? rg_reduce_scatter(g, in, v.recv, counts, v.t->type, v.o->op)
                   : rg_ireduce_scatter(g, in, v.recv, counts, v.t->type, v.o->op, &request),
          &request);
  finish(&v);
}

static void reduce_scatter(rg_group g, int rank, int size, int blocking) {
  scatter_reduced(g, rank, size, blocking, 0);
}

static void reduce_scatter_block(rg_group g, int rank, int size, int blocking) {
  scatter_reduced(g, rank, size, blocking, 1);
}

void test_reduce_scatter(void) {
  each_algorithm(RG_OP_REDUCE_SCATTER, TURNS, reduce_scatter);
}

void test_reduce_scatter_block(void) {
  each_algorithm(RG_OP_REDUCE_SCATTER, TURNS, reduce_scatter_block);
}

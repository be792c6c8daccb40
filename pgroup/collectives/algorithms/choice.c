/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The choice among algorithms by the cost model. An algorithm between nodes is charged with the
 * best message algorithm between the node leaders and a tree inside a node.
 *
 * The short way of a blocking call (fast_path.h) does not ask the model if that prefers shared
 * memory for all operations and lengths on so many members, as it does unless the measured costs of
 * a machine say otherwise. Otherwise it is asked once for each group, operation and doubling of the
 * length; what counts is the range, so that all members find the same. */
#include "collectives/algorithms/choice.h"

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/runtime.h"

/* Whether the algorithm leaves the vector whole. */
static int keeps_whole(const rgi_algorithm *algorithm, const rgi_choice_shape *shape) {
  size_t blocks = shape->op == RG_OP_REDUCE_SCATTER ? (size_t)shape->p : 1;
  return !(algorithm->needs & RGI_ALGORITHM_DIVIDES) ||
         ((algorithm->needs & RGI_ALGORITHM_ONE_NODE) && shape->bytes <= RGI_SHM_CHUNK / blocks);
}

/* Whether it is a way inside a node, and cannot. */
static int is_other_way(const rgi_algorithm *algorithm, const rgi_choice_shape *shape) {
  const rgi_algorithm_inside call = {shape->bytes, (size_t)shape->p, shape->lacks};
  return algorithm->suits &&
         ((algorithm->needs & shape->lacks) ||
          ((algorithm->needs & RGI_ALGORITHM_SUITED) && !algorithm->suits(&call)));
}

int rgi_choice_serves(const rgi_algorithm *algorithm, const rgi_choice_shape *shape) {
  if ((algorithm->needs & RGI_ALGORITHM_COMMUTES) && !shape->commutes)
    return 0;
  if ((algorithm->needs & RGI_ALGORITHM_ONE_NODE) && (shape->nodes > 1 || !shape->memory))
    return 0;
  if ((algorithm->needs & RGI_ALGORITHM_NODES) &&
      (shape->nodes < 2 || (!shape->commutes && !shape->in_order)))
    return 0;
  if ((algorithm->needs & RGI_ALGORITHM_IN_ORDER) && !shape->in_order)
    return 0;
  if ((shape->whole && !keeps_whole(algorithm, shape)) || is_other_way(algorithm, shape))
    return 0;
  return shape->even || (algorithm->needs & RGI_ALGORITHM_UNEVEN);
}

/* Inside each node to one member, between the nodes, inside again: half of what
 * the nodes hold crosses where blocks are gathered. */
static double predict_hierarchical(const rgi_tuning_model *model, const rgi_algorithm table[],
                                   const rgi_choice_shape *shape) {
  rgi_choice_shape between = *shape;
  double here = (double)shape->p / shape->nodes, n = (double)shape->bytes;
  rg_operation op = shape->op;
  int blocks = op == RG_OP_GATHER || op == RG_OP_SCATTER || op == RG_OP_ALLGATHER ||
               op == RG_OP_GATHERV || op == RG_OP_SCATTERV || op == RG_OP_ALLGATHERV ||
               op == RG_OP_ALLTOALL || op == RG_OP_REDUCE_SCATTER;
  int twice = op == RG_OP_ALLTOALL || op == RG_OP_ALLREDUCE || op == RG_OP_BARRIER;
  double all = blocks ? n * shape->p : n;
  between.p = shape->nodes;
  between.bytes = (size_t)(op == RG_OP_ALLTOALL ? n * here * here : blocks ? n * here : n);
  double inside = op == RG_OP_ALLTOALL ? all * here : all;
  const rgi_tuning_level *l = shape->memory ? &model->shared : &model->inside;
  return (1 + twice) * (rgi_cost_lg(here) * l->ts + inside * (l->tw + l->tc)) +
         rgi_choice_predict(model, table, rgi_choice_best(model, table, &between, 1), &between);
}

double rgi_choice_predict(const rgi_tuning_model *model, const rgi_algorithm table[], int row,
                          const rgi_choice_shape *shape) {
  const rgi_algorithm *algorithm = &table[row];
  if (algorithm->needs & RGI_ALGORITHM_NODES)
    return predict_hierarchical(model, table, shape);
  const rgi_tuning_level *l = algorithm->needs & RGI_ALGORITHM_ONE_NODE ? &model->shared
                              : shape->nodes > 1                        ? &model->between
                                                                        : &model->inside;
  rgi_cost_params params = {
      .p = shape->p, .n = (double)shape->bytes, .ts = l->ts, .tw = l->tw, .tc = l->tc};
  if (shape->nodes > 1) /* the members on a node share its link */
    params.tw *= (double)shape->p / shape->nodes;
  return algorithm->cost(&params);
}

int rgi_choice_best(const rgi_tuning_model *model, const rgi_algorithm table[],
                    const rgi_choice_shape *shape, int messages) {
  int best = -1;
  double least = 0;
  for (int row = 0; table[row].name; row++) {
    unsigned needs = table[row].needs;
    if (table[row].suits || !rgi_choice_serves(&table[row], shape) ||
        (messages && (needs & (RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_NODES))))
      continue;
    double cost = rgi_choice_predict(model, table, row, shape);
    if (best < 0 || cost < least) {
      best = row;
      least = cost;
    }
  }
  return best;
}

/* Lengths of 0 and of powers of two up to this one. */
#define LONGEST ((size_t)1 << 40)

/* Whether shared memory is best, where it can serve. */
static int is_best(const rgi_algorithm table[], rg_operation op, int p, size_t bytes) {
  rgi_choice_shape shape = {.op = op,
                            .p = p,
                            .nodes = 1,
                            .bytes = bytes,
                            .commutes = 1,
                            .even = 1,
                            .memory = 1,
                            .in_order = 1};
  int row = rgi_choice_memory_row(table, &shape);
  return row < 0 || row == rgi_choice_best(rgi_tuning_now(), table, &shape, 0);
}

static int prefers_memory(const rgi_algorithm *const tables[], int p) {
  for (int op = 0; op < RG_OP_COUNT; op++)
    for (size_t bytes = 0; bytes <= LONGEST; bytes = bytes ? 2 * bytes : 1)
      if (!is_best(tables[op], (rg_operation)op, p, bytes))
        return 0;
  return 1;
}

int rgi_choice_length_prefers_memory(const rgi_coll *coll, rg_operation op, size_t bytes) {
  rgi_choice_lengths *known = coll->lengths ? &coll->lengths[op] : NULL;
  const rgi_algorithm *table = coll->algorithms[op];
  int p = coll->all.size;
  if (!known)
    return 0;
  int doubling = bytes ? 64 - __builtin_clzll(bytes < LONGEST ? bytes : LONGEST) : 0;
  uint64_t bit = (uint64_t)1 << doubling;
  size_t low = (size_t)(bit / 2);
  if (!(known->asked & bit)) {
    if (bytes ? is_best(table, op, p, low) && is_best(table, op, p, 2 * low)
              : is_best(table, op, p, 0))
      known->best |= bit;
    known->asked |= bit;
  }
  return (known->best & bit) != 0;
}

int rgi_choice_memory_row(const rgi_algorithm table[], const rgi_choice_shape *shape) {
  for (int row = 0; table[row].name; row++)
    if ((table[row].needs & RGI_ALGORITHM_ONE_NODE) && !table[row].suits &&
        rgi_choice_serves(&table[row], shape))
      return row;
  return -1;
}

/* The model stays the same from rg_init to rg_finalize. */
int rgi_choice_prefers_memory(const rgi_algorithm *const tables[], int p) {
  static _Atomic uint64_t known[64]; /* the epoch, the number of members, the answer */
  _Atomic uint64_t *word = &known[p % 64];
  uint64_t asked = (uint64_t)rgi_runtime.epoch << 32 | (uint64_t)p << 1, found = atomic_load(word);
  if (found >> 1 == asked >> 1)
    return found % 2;
  int answer = prefers_memory(tables, p);
  atomic_store(word, asked + (uint64_t)answer);
  return answer;
}

int rgi_choice_row(const rgi_coll *coll, const rgi_choice_shape *shape) {
  const rgi_algorithm *table = coll->algorithms[shape->op];
  const rgi_algorithm_inside call = {shape->bytes, (size_t)shape->p, shape->lacks};
  int row = coll->forced[shape->op].row;
  if (row < 0 || !rgi_choice_serves(&table[row], shape)) {
    int memory = coll->in_memory || rgi_choice_length_prefers_memory(coll, shape->op, shape->bytes);
    row = memory ? rgi_choice_memory_row(table, shape) : -1;
    row = row >= 0 ? row : rgi_choice_best(rgi_tuning_now(), table, shape, 0);
  }
  int is_shared = (table[row].needs & RGI_ALGORITHM_ONE_NODE) && !table[row].suits;
  return is_shared && table[0].suits ? (int)(rgi_choice_way(table, &call) - table) : row;
}

rgi_way rgi_choice_inside(const rgi_sched *sched, rg_operation part, size_t bytes) {
  const rgi_shared_state *state = sched->coll->state;
  int users = rgi_algorithm_is_reduction(part) && sched->reduction.whole;
  const rgi_algorithm_inside call = {bytes, (size_t)state->n,
                                     sched->coll->lacks | (users ? RGI_ALGORITHM_OF_MPI : 0u)};
  return rgi_choice_way(sched->coll->algorithms[part], &call)->way;
}

void rgi_choice_build(rgi_sched *sched, rg_operation op, int row, const rgi_subgroup *subgroup,
                      const rgi_algorithm_args *args) {
  const rgi_algorithm *table = sched->coll->algorithms[op];
  rgi_choice_shape shape = {
      .op = op,
      .p = subgroup->size,
      .nodes = sched->coll->nodes.count > 1 && subgroup != &sched->coll->nodes.inside
                   ? subgroup->size
                   : 1,
      .bytes = args->bytes,
      .commutes = !rgi_algorithm_is_reduction(op) || sched->reduction.commutes,
      .even = !args->in_blocks.length && !args->out_blocks.length,
      .whole = rgi_algorithm_is_reduction(op) && sched->reduction.whole};
  if (subgroup->size == 1)
    shape.nodes = 1;
  if (row < 0 || !rgi_choice_serves(&table[row], &shape))
    row = rgi_choice_best(rgi_tuning_now(), table, &shape, 1);
  table[row].build(sched, subgroup, args);
}

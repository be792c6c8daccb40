/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The way of a call: from arguments to dense bytes (call_prepare.c), to the shape of the call,
 * to an algorithm, to a schedule, which is run to its end or becomes a request. */
#include "collectives/calls/call.h"

#include <stdlib.h>

#include "base/error.h"
#include "collectives/algorithms/choice.h"
#include "collectives/group/coll_of_group.h"

/* Only what all members know: they must choose the same algorithm. */
static rgi_choice_shape shape_of(const rgi_sched *s, const rgi_call *c,
                                 const rgi_algorithm_args *p) {
  const rgi_coll *coll = s->coll;
  rg_operation op = c->operation;
  int red = rgi_algorithm_is_reduction(op), p_all = coll->all.size;
  size_t bytes = p->bytes, all = 0;
  if (op == RG_OP_GATHERV || op == RG_OP_SCATTERV || op == RG_OP_ALLTOALLV)
    bytes = 0; /* each member knows its own block only */
  if (p->in_blocks.length && op == RG_OP_REDUCE_SCATTER)
    for (int i = 0; i < p_all; i++)
      all += p->in_blocks.length[i];
  if (op == RG_OP_ALLGATHERV)
    for (int i = 0; i < p_all; i++)
      all += p->out_blocks.length[i];
  if (all || op == RG_OP_ALLGATHERV || c->recv.counts)
    bytes = all / (size_t)p_all;
  return (rgi_choice_shape){.op = op,
                            .p = p_all,
                            .nodes = coll->nodes.count,
                            .bytes = bytes,
                            .commutes = !red || s->reduction.commutes,
                            .even = op != RG_OP_REDUCE_SCATTER || !c->recv.counts,
                            .memory = s->blocking && (!red || s->reduction.datatype.dense),
                            .in_order = coll->nodes.in_order,
                            .whole = red && s->reduction.whole};
}

static int choose_row(const rgi_coll *coll, const rgi_choice_shape *shape) {
  int row = coll->forced[shape->op].row;
  const rgi_algorithm *table = coll->algorithms[shape->op];
  if (row >= 0 && rgi_choice_serves(&table[row], shape))
    return row;
  int memory = coll->in_memory || rgi_coll_prefers_memory(coll, shape->op, shape->bytes);
  row = memory ? rgi_choice_memory_row(table, shape) : -1;
  return row >= 0 ? row : rgi_choice_best(rgi_tuning_now(), table, shape, 0);
}

static void unpack_result(rgi_sched *s, const rgi_call *c, const rgi_algorithm_args *p) {
  if (!s->unpack_bytes)
    return;
  rgi_sched_end_round(s);
  if (!p->out_blocks.at) {
    rgi_sched_unpack(s, rgi_call_memory(&c->recv), p->out, s->unpack_bytes);
    return;
  }
  for (int i = 0; i < s->coll->all.size; i++)
    rgi_sched_unpack(s, rgi_datatype_element(&s->datatype, c->recv.memory, c->recv.displs[i]),
                     p->out + p->out_blocks.at[i], p->out_blocks.length[i]);
}

static int write_schedule(rgi_sched *s, const rgi_call *c) {
  rgi_algorithm_args p;
  RGI_TRY(rgi_call_prepare(s, c, &p));
  rgi_choice_shape shape = shape_of(s, c, &p);
  s->coll->algorithms[shape.op][choose_row(s->coll, &shape)].build(s, &s->coll->all, &p);
  unpack_result(s, c, &p);
  return s->error;
}

/* On failure nothing was sent: the next operation is the same one. */
static int begin_schedule(rgi_sched *s, rgi_coll *coll, const rgi_call *c, int blocking) {
  rgi_sched_init(s, coll, c->name, blocking);
  int error = write_schedule(s, c);
  if (error) {
    *coll->sequence = s->tag;
    rgi_sched_free(s);
  }
  if (error == RG_ERR_NOMEM && blocking)
    rgi_shared_state_break(c->group, error); /* the others may wait for this member */
  return error;
}

int rgi_call_run(rgi_call *c, const char *name) {
  rgi_coll *coll;
  rgi_sched s;
  c->name = name;
  RGI_TRY(rgi_coll_get(name, c->group, &coll));
  RGI_TRY(begin_schedule(&s, coll, c, 1));
  return rgi_sched_run(&s);
}

int rgi_call_start(rgi_call *c, const char *name, rg_request *request) {
  rgi_coll *coll;
  c->name = name;
  if (!request)
    return rgi_error(RG_ERR_ARG, "%s: request is NULL", name);
  RGI_TRY(rgi_coll_get(name, c->group, &coll));
  rgi_sched *s = malloc(sizeof *s);
  if (!s)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", name);
  int error = begin_schedule(s, coll, c, 0);
  if (!error)
    return rgi_sched_start(s, request);
  free(s);
  return error;
}

int rg_group_algorithm(rg_group g, rg_operation operation, MPI_Count bytes, const char **name) {
  rgi_coll *coll;
  RGI_REQUIRE(name);
  RGI_TRY(rgi_coll_get(__func__, g, &coll));
  if ((unsigned)operation >= RG_OP_COUNT || bytes < 0)
    return rgi_error(RG_ERR_ARG, "%s: operation %d, %lld bytes: one of them is not valid", __func__,
                     (int)operation, (long long)bytes);
  rgi_choice_shape shape = {
      operation, coll->all.size, coll->nodes.count, (size_t)bytes, 1, 1, 1, coll->nodes.in_order,
      0};
  *name = coll->algorithms[operation][choose_row(coll, &shape)].name;
  return RG_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/call.h"

#include <stdlib.h>

#include "base/error.h"
#include "collectives/state.h"

static int combines(rg_operation op) {
  return op == RG_OP_REDUCE || op == RG_OP_ALLREDUCE || op == RG_OP_REDUCE_SCATTER ||
         op == RG_OP_SCAN || op == RG_OP_EXSCAN;
}

/* What all members know alike: they must choose alike. */
static rgi_shape shape_of(const rgi_schedule *s, const rgi_call *c, const rgi_problem *p) {
  const rgi_state *state = s->state;
  rg_operation op = c->operation;
  int red = combines(op), p_all = state->everyone.size;
  size_t bytes = p->bytes, all = 0;
  if (op == RG_OP_GATHERV || op == RG_OP_SCATTERV || op == RG_OP_ALLTOALLV)
    bytes = 0; /* each knows its own only */
  if (p->in_blocks.length && op == RG_OP_REDUCE_SCATTER)
    for (int i = 0; i < p_all; i++)
      all += p->in_blocks.length[i];
  if (op == RG_OP_ALLGATHERV)
    for (int i = 0; i < p_all; i++)
      all += p->out_blocks.length[i];
  if (all || op == RG_OP_ALLGATHERV || c->recv_counts)
    bytes = all / (size_t)p_all;
  return (rgi_shape){.op = op,
                     .p = p_all,
                     .nodes = state->nodes.count,
                     .bytes = bytes,
                     .commutes = !red || s->reduction.commutes,
                     .even = op != RG_OP_REDUCE_SCATTER || !c->recv_counts,
                     .memory = s->blocking && (!red || s->reduction.typed.dense),
                     .in_order = state->nodes.in_order};
}

static int choose(const rgi_state *state, const rgi_shape *shape) {
  int row = state->forced[shape->op].row;
  return row >= 0 && rgi_serves(row, shape) ? row : rgi_choose(rgi_model_now(), shape, 0);
}

static void unpack_result(rgi_schedule *s, const rgi_call *c, const rgi_problem *p) {
  if (!s->unpack_bytes)
    return;
  rgi_round(s);
  if (!p->out_blocks.at) {
    rgi_unpack_later(s, c->recv, p->out, s->unpack_bytes);
    return;
  }
  for (int i = 0; i < s->state->everyone.size; i++)
    rgi_unpack_later(s, rgi_element(&s->typed, c->recv, c->recv_displs[i]),
                     p->out + p->out_blocks.at[i], p->out_blocks.length[i]);
}

static int write(rgi_schedule *s, const rgi_call *c) {
  rgi_problem p;
  RGI_TRY(rgi_prepare(s, c, &p));
  rgi_shape shape = shape_of(s, c, &p);
  rgi_algorithms[shape.op][choose(s->state, &shape)].build(s, &s->state->everyone, &p);
  unpack_result(s, c, &p);
  return s->error;
}

/* On failure nothing was sent: the next operation is the same one. */
static int begin(rgi_schedule *s, rgi_state *state, const rgi_call *c, int blocking) {
  rgi_schedule_begin(s, state, c->name, blocking);
  int error = write(s, c);
  if (error) {
    state->sequence = s->tag;
    rgi_schedule_end(s);
  }
  return error;
}

static int start(rgi_state *state, const rgi_call *c, rg_request *request) {
  rgi_schedule *s = malloc(sizeof *s);
  if (!s)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", c->name);
  int error = begin(s, state, c, 0);
  if (!error)
    return rgi_schedule_start(s, request);
  free(s);
  return error;
}

rgi_call rgi_blocks_call(rg_operation operation, const char *name, rg_group g, const void *send,
                         MPI_Count send_count, MPI_Datatype send_type, void *recv,
                         MPI_Count recv_count, MPI_Datatype recv_type, int root) {
  return (rgi_call){.operation = operation,
                    .name = name,
                    .group = g,
                    .root = root,
                    .send = send,
                    .send_count = send_count,
                    .send_type = send_type,
                    .recv = recv,
                    .recv_count = recv_count,
                    .recv_type = recv_type};
}

rgi_call rgi_fold_call(rg_operation operation, const char *name, rg_group g, const void *send,
                       void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root) {
  return (rgi_call){.operation = operation,
                    .name = name,
                    .group = g,
                    .root = root,
                    .send = send,
                    .recv = recv,
                    .recv_count = count,
                    .recv_type = type,
                    .op = op};
}

int rgi_call_run(const rgi_call *c, rg_request *request) {
  rgi_state *state;
  rgi_schedule s;
  RGI_TRY(rgi_state_of(c->name, c->group, &state));
  if (request)
    return start(state, c, request);
  RGI_TRY(begin(&s, state, c, 1));
  return rgi_schedule_run(&s);
}

void rgi_build(rgi_schedule *s, rg_operation op, int row, const rgi_team *t, const rgi_problem *p) {
  rgi_shape shape = {.op = op,
                     .p = t->size,
                     .nodes =
                         s->state->nodes.count > 1 && t != &s->state->nodes.inside ? t->size : 1,
                     .bytes = p->bytes,
                     .commutes = !combines(op) || s->reduction.commutes,
                     .even = !p->in_blocks.length && !p->out_blocks.length};
  if (t->size == 1)
    shape.nodes = 1;
  if (row < 0 || !rgi_serves(row, &shape))
    row = rgi_choose(rgi_model_now(), &shape, 1);
  rgi_algorithms[op][row].build(s, t, p);
}

int rg_group_algorithm(rg_group g, rg_operation operation, MPI_Count bytes, const char **name) {
  rgi_state *state;
  RGI_REQUIRE(name);
  RGI_TRY(rgi_state_of(__func__, g, &state));
  if ((unsigned)operation >= RG_OP_COUNT || bytes < 0)
    return rgi_error(RG_ERR_ARG, "%s: operation %d, %lld bytes", __func__, (int)operation,
                     (long long)bytes);
  rgi_shape shape = {operation, state->everyone.size, state->nodes.count, (size_t)bytes, 1, 1,
                     1,         state->nodes.in_order};
  *name = rgi_algorithms[operation][choose(state, &shape)].name;
  return RG_SUCCESS;
}

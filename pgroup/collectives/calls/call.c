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
#include "collectives/schedule/coll_state.h"

/* Only what all members know: they must choose the same algorithm. */
static rgi_choice_shape shape_of(const rgi_sched *sched, const rgi_call *call,
                                 const rgi_algorithm_args *args) {
  const rgi_coll *coll = sched->coll;
  rg_operation op = call->operation;
  int red = rgi_algorithm_is_reduction(op), p_all = coll->all.size;
  size_t bytes = args->bytes, all = 0;
  if (op == RG_OP_GATHERV || op == RG_OP_SCATTERV || op == RG_OP_ALLTOALLV)
    bytes = 0; /* each member knows its own block only */
  if (args->in_blocks.length && op == RG_OP_REDUCE_SCATTER)
    for (int i = 0; i < p_all; i++)
      all += args->in_blocks.length[i];
  if (op == RG_OP_ALLGATHERV)
    for (int i = 0; i < p_all; i++)
      all += args->out_blocks.length[i];
  if (all || op == RG_OP_ALLGATHERV || call->recv.counts)
    bytes = all / (size_t)p_all;
  return (rgi_choice_shape){.op = op,
                            .p = p_all,
                            .nodes = coll->nodes.count,
                            .bytes = bytes,
                            .commutes = !red || sched->reduction.commutes,
                            .even = op != RG_OP_REDUCE_SCATTER || !call->recv.counts,
                            .memory = sched->blocking && (!red || sched->reduction.datatype.dense),
                            .in_order = coll->nodes.in_order,
                            .whole = red && sched->reduction.whole,
                            .lacks = coll->lacks |
                                     (red && sched->reduction.whole ? RGI_ALGORITHM_OF_MPI : 0u) |
                                     (args->in_blocks.length ? RGI_ALGORITHM_EVEN : 0u)};
}

static void unpack_result(rgi_sched *sched, const rgi_call *call, const rgi_algorithm_args *args) {
  if (!sched->unpack_bytes)
    return;
  rgi_sched_end_round(sched);
  if (!args->out_blocks.at) {
    rgi_sched_unpack(sched, rgi_call_memory(&call->recv), args->out, sched->unpack_bytes);
    return;
  }
  for (int i = 0; i < sched->coll->all.size; i++)
    rgi_sched_unpack(
        sched, rgi_datatype_element(&sched->datatype, call->recv.memory, call->recv.displs[i]),
        args->out + args->out_blocks.at[i], args->out_blocks.length[i]);
}

/* The operations in shared memory: each is one step, with such a root if it has none of its own. */
static const struct {
  rgi_sched_step_kind kind;
  int root;
} in_memory[RG_OP_COUNT] = {[RG_OP_BARRIER] = {.kind = RGI_SCHED_SHM_BARRIER},
                            [RG_OP_BCAST] = {.kind = RGI_SCHED_SHM_BCAST},
                            [RG_OP_REDUCE] = {.kind = RGI_SCHED_SHM_REDUCE},
                            [RG_OP_ALLREDUCE] = {RGI_SCHED_SHM_REDUCE, RGI_SCHED_ALL},
                            [RG_OP_GATHER] = {.kind = RGI_SCHED_SHM_GATHER},
                            [RG_OP_ALLGATHER] = {RGI_SCHED_SHM_GATHER, RGI_SCHED_ALL},
                            [RG_OP_SCATTER] = {.kind = RGI_SCHED_SHM_SCATTER},
                            [RG_OP_ALLTOALL] = {.kind = RGI_SCHED_SHM_ALLTOALL},
                            [RG_OP_SCAN] = {RGI_SCHED_SHM_REDUCE, RGI_SCHED_SCAN},
                            [RG_OP_EXSCAN] = {RGI_SCHED_SHM_REDUCE, RGI_SCHED_EXSCAN}};

static void add_in_memory(rgi_sched *sched, rg_operation op, const rgi_algorithm_args *args) {
  const char *in = args->in;
  if (in_memory[op].kind == RGI_SCHED_SHM_GATHER && !in)
    in = args->out + (size_t)sched->coll->all.me * args->bytes;
  rgi_sched_add(sched,
                (rgi_sched_step){.kind = in_memory[op].kind,
                                 .peer = in_memory[op].root ? in_memory[op].root : args->root,
                                 .to = args->out,
                                 .from = in,
                                 .bytes = args->bytes,
                                 .way = args->way});
}

static int write_schedule(rgi_sched *sched, const rgi_call *call) {
  rgi_algorithm_args args;
  RGI_TRY(rgi_call_prepare(sched, call, &args));
  rgi_choice_shape shape = shape_of(sched, call, &args);
  const rgi_algorithm *chosen =
      &sched->coll->algorithms[shape.op][rgi_choice_row(sched->coll, &shape)];
  args.way = chosen->way;
  if (chosen->build)
    chosen->build(sched, &sched->coll->all, &args);
  else
    add_in_memory(sched, shape.op, &args);
  unpack_result(sched, call, &args);
  return sched->error;
}

/* A lack of memory is told to the members that take part. After another error nothing was sent: the
 * next operation is the same one. */
static int begin_schedule(rgi_sched *sched, rgi_coll *coll, const rgi_call *call, int blocking) {
  rgi_sched_init(sched, coll, call->name, blocking);
  int error = write_schedule(sched, call);
  if (error) {
    *coll->sequence = sched->tag;
    rgi_sched_free(sched);
  }
  return error == RG_ERR_NOMEM ? rgi_coll_failure_tell(coll, call->name, error) : error;
}

int rgi_call_run(rgi_call *call, const char *name) {
  rgi_coll *coll;
  rgi_sched sched;
  call->name = name;
  RGI_TRY(rgi_coll_get(name, call->group, &coll));
  RGI_TRY(begin_schedule(&sched, coll, call, 1));
  return rgi_sched_run(&sched);
}

int rgi_call_start(rgi_call *call, const char *name, rg_request *request) {
  rgi_coll *coll;
  call->name = name;
  if (!request)
    return rgi_error(RG_ERR_ARG, "%s: request is NULL", name);
  RGI_TRY(rgi_coll_get(name, call->group, &coll));
  rgi_sched *sched = malloc(sizeof *sched);
  if (!sched)
    return rgi_coll_failure_tell(coll, name, rgi_error(RG_ERR_NOMEM, "%s: no memory", name));
  int error = begin_schedule(sched, coll, call, 0);
  if (!error)
    return rgi_sched_start(sched, request);
  free(sched);
  return error;
}

int rg_group_algorithm(rg_group g, rg_operation operation, MPI_Count bytes, const char **name) {
  rgi_coll *coll;
  RGI_REQUIRE(name);
  RGI_TRY(rgi_coll_try(__func__, g, &coll));
  if ((unsigned)operation >= RG_OP_COUNT || bytes < 0)
    return rgi_error(RG_ERR_ARG, "%s: operation %d, %lld bytes: one of them is not valid", __func__,
                     (int)operation, (long long)bytes);
  rgi_choice_shape shape = {.op = operation,
                            .p = coll->all.size,
                            .nodes = coll->nodes.count,
                            .bytes = (size_t)bytes,
                            .commutes = 1,
                            .even = 1,
                            .memory = 1,
                            .in_order = coll->nodes.in_order,
                            .lacks = coll->lacks};
  *name = coll->algorithms[operation][rgi_choice_row(coll, &shape)].name;
  return RG_SUCCESS;
}

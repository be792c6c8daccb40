/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of operations, and what the user may ask of it: names, formulas, predictions. It
 * is the only place that knows all operations; what lies below takes a table as a parameter or
 * finds it in the group's collective state. */
#include "collectives/group/operation.h"

#include "base/error.h"
#include "collectives/algorithms/choice.h"

const rgi_algorithm *const rgi_operation_algorithms[RG_OP_COUNT] = {
    [RG_OP_BARRIER] = rgi_algorithms_barrier,
    [RG_OP_BCAST] = rgi_algorithms_bcast,
    [RG_OP_REDUCE] = rgi_algorithms_reduce,
    [RG_OP_ALLREDUCE] = rgi_algorithms_allreduce,
    [RG_OP_GATHER] = rgi_algorithms_gather,
    [RG_OP_GATHERV] = rgi_algorithms_gatherv,
    [RG_OP_SCATTER] = rgi_algorithms_scatter,
    [RG_OP_SCATTERV] = rgi_algorithms_scatterv,
    [RG_OP_ALLGATHER] = rgi_algorithms_allgather,
    [RG_OP_ALLGATHERV] = rgi_algorithms_allgatherv,
    [RG_OP_ALLTOALL] = rgi_algorithms_alltoall,
    [RG_OP_ALLTOALLV] = rgi_algorithms_alltoallv,
    [RG_OP_REDUCE_SCATTER] = rgi_algorithms_reduce_scatter,
    [RG_OP_SCAN] = rgi_algorithms_scan,
    [RG_OP_EXSCAN] = rgi_algorithms_exscan,
};

const char *const rgi_operation_names[RG_OP_COUNT] = {
    "barrier",  "bcast",     "reduce",         "allreduce", "gather",
    "gatherv",  "scatter",   "scatterv",       "allgather", "allgatherv",
    "alltoall", "alltoallv", "reduce_scatter", "scan",      "exscan",
};

int rgi_operation_rows(rg_operation op) {
  int n = 0;
  while (rgi_operation_algorithms[op][n].name)
    n++;
  return n;
}

int rgi_operation_check(const char *call, rg_operation op) {
  return (unsigned)op < RG_OP_COUNT
             ? RG_SUCCESS
             : rgi_error(RG_ERR_ARG, "%s: there is no operation %d", call, (int)op);
}

/* --- what the user calls -------------------------------------------------------------------- */

const char *rg_operation_name(rg_operation operation) {
  return (unsigned)operation < RG_OP_COUNT ? rgi_operation_names[operation] : NULL;
}

int rg_algorithm_count(rg_operation operation, int *count) {
  RGI_REQUIRE(count);
  RGI_TRY(rgi_operation_check(__func__, operation));
  *count = rgi_operation_rows(operation);
  return RG_SUCCESS;
}

static int check_row(const char *call, rg_operation op, int i) {
  RGI_TRY(rgi_operation_check(call, op));
  return i >= 0 && i < rgi_operation_rows(op)
             ? RG_SUCCESS
             : rgi_error(RG_ERR_ARG, "%s: %s has no algorithm number %d", call,
                         rgi_operation_names[op], i);
}

static const char *constraint_of(unsigned needs) {
  if (needs & RGI_ALGORITHM_COMMUTES)
    return "the operation commutes";
  if (needs & RGI_ALGORITHM_LEVELS)
    return "as shared; a processor for each process, more than 8 members, short vectors";
  if (needs & RGI_ALGORITHM_THREE)
    return "as shared; a processor for each of 3 and more, processes that read one another, long "
           "blocks";
  if (needs & RGI_ALGORITHM_READS)
    return "as shared; processes that may read one another";
  if (needs & RGI_ALGORITHM_SUITED)
    return "as shared; short vectors";
  if (needs & RGI_ALGORITHM_ONE_NODE)
    return "all members on one node, blocking call, combined elements without gaps";
  if (needs & RGI_ALGORITHM_NODES)
    return "several nodes; operations that do not commute need consecutive ranks on each";
  if (needs & RGI_ALGORITHM_DIVIDES)
    return "an operation of MPI's";
  return "";
}

int rg_algorithm_get(rg_operation operation, int i, const char **name, const char **cost,
                     const char **constraint) {
  RGI_TRY(check_row(__func__, operation, i));
  const rgi_algorithm *algorithm = &rgi_operation_algorithms[operation][i];
  if (name)
    *name = algorithm->name;
  if (cost)
    *cost = algorithm->formula;
  if (constraint)
    *constraint = constraint_of(algorithm->needs);
  return RG_SUCCESS;
}

int rg_algorithm_predict(rg_operation operation, int i, int p, int nodes, MPI_Count bytes,
                         double *seconds) {
  RGI_REQUIRE(seconds);
  RGI_TRY(check_row(__func__, operation, i));
  if (p < 1 || nodes < 1 || nodes > p || bytes < 0)
    return rgi_error(RG_ERR_ARG, "%s: it cannot be %d members on %d nodes and %lld bytes", __func__,
                     p, nodes, (long long)bytes);
  rgi_choice_shape shape = {.op = operation,
                            .p = p,
                            .nodes = nodes,
                            .bytes = (size_t)bytes,
                            .commutes = 1,
                            .even = 1,
                            .memory = 1,
                            .in_order = 1};
  *seconds = rgi_choice_predict(rgi_tuning_now(), rgi_operation_algorithms[operation], i, &shape);
  return RG_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/force.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/algorithm.h"
#include "collectives/coll.h"
#include "formation/group.h"

const rgi_algorithm *const rgi_algorithms[RG_OP_COUNT] = {
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

static const char *const operation_names[RG_OP_COUNT] = {
    "barrier",  "bcast",     "reduce",         "allreduce", "gather",
    "gatherv",  "scatter",   "scatterv",       "allgather", "allgatherv",
    "alltoall", "alltoallv", "reduce_scatter", "scan",      "exscan",
};

int rgi_algorithm_rows(rg_operation op) {
  int n = 0;
  while (rgi_algorithms[op][n].name)
    n++;
  return n;
}

/* --- names ------------------------------------------------------------------------- */

static int is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

static int row_named(rg_operation op, const char *name, size_t length) {
  for (int i = 0; rgi_algorithms[op][i].name; i++)
    if (is_word(name, length, rgi_algorithms[op][i].name))
      return i;
  return -1;
}

/* The algorithms between nodes and inside work with messages. */
static int message_row(rg_operation op, const char *name, size_t length) {
  int row = row_named(op, name, length);
  return row >= 0 &&
                 !(rgi_algorithms[op][row].needs & (RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_NODES))
             ? row
             : -1;
}

static int unknown_algorithm(const char *call, rg_operation op, const char *name, size_t length) {
  char list[256] = "auto";
  for (int i = 0; rgi_algorithms[op][i].name; i++) {
    strncat(list, ", ", sizeof list - strlen(list) - 1);
    strncat(list, rgi_algorithms[op][i].name, sizeof list - strlen(list) - 1);
  }
  return rgi_error(RG_ERR_OPTION, "%s: \"%.*s\" is no algorithm for %s here; there are: %s", call,
                   (int)length, name, operation_names[op], list);
}

rg_operation rgi_force_op_between(rg_operation op) {
  switch (op) { /* nodes may have different numbers of members */
  case RG_OP_GATHER:
    return RG_OP_GATHERV;
  case RG_OP_SCATTER:
    return RG_OP_SCATTERV;
  case RG_OP_ALLGATHER:
    return RG_OP_ALLGATHERV;
  case RG_OP_ALLTOALL:
    return RG_OP_ALLTOALLV;
  default:
    return op;
  }
}

rg_operation rgi_force_op_inside(rg_operation op) {
  switch (op) {
  case RG_OP_ALLREDUCE:
  case RG_OP_REDUCE_SCATTER:
    return RG_OP_REDUCE;
  case RG_OP_ALLGATHER:
  case RG_OP_ALLTOALL:
    return RG_OP_GATHER;
  case RG_OP_ALLGATHERV:
    return RG_OP_GATHERV;
  default:
    return op;
  }
}

/* "name", or "hierarchical:between:inside". */
static int parse_algorithm(const char *call, rg_operation op, const char *text, size_t length,
                           rgi_force *force) {
  const char *end = text + length;
  *force = RGI_FORCE_NONE;
  if (is_word(text, length, "auto"))
    return RG_SUCCESS;
  for (int i = 0; i < 3; i++) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    size_t n = (size_t)((colon ? colon : end) - text);
    rg_operation table = i == 0 ? op : i == 1 ? rgi_force_op_between(op) : rgi_force_op_inside(op);
    int row = i == 0 ? row_named(op, text, n) : message_row(table, text, n);
    if (row < 0)
      return unknown_algorithm(call, table, text, n);
    *(i == 0 ? &force->row : i == 1 ? &force->between : &force->inside) = (signed char)row;
    if (!colon)
      return RG_SUCCESS;
    if (i == 2 || !(rgi_algorithms[op][force->row].needs & RGI_ALGORITHM_NODES))
      return unknown_algorithm(call, op, text, (size_t)(end - text));
    text = colon + 1;
  }
  return RG_SUCCESS;
}

int rgi_force_parse(const char *call, rg_operation op, const char *name, rgi_force *force) {
  rgi_force found;
  RGI_TRY(parse_algorithm(call, op, name, strlen(name), &found));
  *force = found;
  return RG_SUCCESS;
}

/* --- the environment --------------------------------------------------------------------- */

static struct {
  pthread_once_t once;
  rgi_force forced[RG_OP_COUNT];
  int any, error;
  char detail[400];
} environment = {.once = PTHREAD_ONCE_INIT};

/* "operation=algorithm" */
static int parse_setting(const char *text, size_t length) {
  const char *equals = memchr(text, '=', length);
  size_t n = equals ? (size_t)(equals - text) : length;
  for (int op = 0; op < RG_OP_COUNT && equals; op++)
    if (is_word(text, n, operation_names[op])) {
      environment.any = 1;
      return parse_algorithm("RG_COLL", (rg_operation)op, equals + 1, length - n - 1,
                             &environment.forced[op]);
    }
  return rgi_error(RG_ERR_OPTION,
                   "RG_COLL: \"%.*s\" is not understood; write RG_COLL=operation=algorithm,...",
                   (int)length, text);
}

static void read_environment(void) {
  const char *text = getenv("RG_COLL");
  for (int op = 0; op < RG_OP_COUNT; op++)
    environment.forced[op] = RGI_FORCE_NONE;
  while (text && *text && !environment.error) {
    size_t n = strcspn(text, ",");
    environment.error = n ? parse_setting(text, n) : RG_SUCCESS;
    text += n + (text[n] == ',');
  }
  if (environment.error)
    strncpy(environment.detail, rg_error_detail(), sizeof environment.detail - 1);
}

int rgi_force_environment(rgi_force forced[], int *any) {
  pthread_once(&environment.once, read_environment);
  if (environment.error)
    return rgi_error(environment.error, "%s", environment.detail);
  *any |= environment.any;
  for (int op = 0; op < RG_OP_COUNT && environment.any; op++)
    if (environment.forced[op].row >= 0)
      forced[op] = environment.forced[op];
  return RG_SUCCESS;
}

/* --- what the user calls -------------------------------------------------------------------- */

static int check_operation(const char *call, rg_operation op) {
  return (unsigned)op < RG_OP_COUNT
             ? RG_SUCCESS
             : rgi_error(RG_ERR_ARG, "%s: there is no operation %d", call, (int)op);
}

int rg_group_set_algorithm(rg_group g, rg_operation operation, const char *name) {
  rgi_coll *coll;
  rgi_force force;
  RGI_TRY(check_operation(__func__, operation));
  RGI_TRY(rgi_force_parse(__func__, operation, name ? name : "auto", &force));
  RGI_TRY(rgi_coll_get(__func__, g, &coll));
  coll->forced[operation] = force;
  coll->forced_any = 0;
  for (int op = 0; op < RG_OP_COUNT; op++)
    coll->forced_any |= coll->forced[op].row >= 0;
  return rgi_force_environment(coll->forced, &coll->forced_any);
}

int rg_operation_name(rg_operation operation, const char **name) {
  RGI_REQUIRE(name);
  RGI_TRY(check_operation(__func__, operation));
  *name = operation_names[operation];
  return RG_SUCCESS;
}

int rg_algorithm_count(rg_operation operation, int *count) {
  RGI_REQUIRE(count);
  RGI_TRY(check_operation(__func__, operation));
  *count = rgi_algorithm_rows(operation);
  return RG_SUCCESS;
}

static int check_row(const char *call, rg_operation op, int i) {
  RGI_TRY(check_operation(call, op));
  return i >= 0 && i < rgi_algorithm_rows(op)
             ? RG_SUCCESS
             : rgi_error(RG_ERR_ARG, "%s: %s has no algorithm number %d", call, operation_names[op],
                         i);
}

static const char *constraint_of(unsigned needs) {
  if (needs & RGI_ALGORITHM_COMMUTES)
    return "the operation commutes";
  if (needs & RGI_ALGORITHM_ONE_NODE)
    return "all members on one node, blocking call, combined elements without gaps";
  if (needs & RGI_ALGORITHM_NODES)
    return "several nodes; operations that do not commute need consecutive ranks on each";
  return "";
}

int rg_algorithm_get(rg_operation operation, int i, const char **name, const char **cost,
                     const char **constraint) {
  RGI_TRY(check_row(__func__, operation, i));
  const rgi_algorithm *a = &rgi_algorithms[operation][i];
  if (name)
    *name = a->name;
  if (cost)
    *cost = a->formula;
  if (constraint)
    *constraint = constraint_of(a->needs);
  return RG_SUCCESS;
}

int rg_algorithm_predict(rg_operation operation, int i, int p, int nodes, MPI_Count bytes,
                         double *seconds) {
  RGI_REQUIRE(seconds);
  RGI_TRY(check_row(__func__, operation, i));
  if (p < 1 || nodes < 1 || nodes > p || bytes < 0)
    return rgi_error(RG_ERR_ARG, "%s: %d members on %d nodes, %lld bytes", __func__, p, nodes,
                     (long long)bytes);
  rgi_cost_shape shape = {operation, p, nodes, (size_t)bytes, 1, 1, 1, 1};
  *seconds = rgi_cost_predict(rgi_tuning_now(), i, &shape);
  return RG_SUCCESS;
}

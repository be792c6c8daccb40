/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The cost model: what an algorithm takes, and which is best. Pure. */
#ifndef RGI_COST_H
#define RGI_COST_H

#include <regroup/collectives.h>
#include <stddef.h>

#include "runtime/tuning.h"

/* What is asked of an algorithm: p members, n bytes, at what cost each. */
typedef struct {
  double p, n, ts, tw, tc;
} rgi_cost_params;

typedef double rgi_cost(const rgi_cost_params *params);

/* lg p, rounded up. */
double rgi_cost_lg(double p);

/* What several operations' algorithms take, each with its formula, as a row of a table has
 * them. BLOCKS: one block with each member; DOUBLING: what is sent grows by rounds; REDUCE: with
 * operands combined. */
rgi_cost rgi_cost_blocks, rgi_cost_doubling, rgi_cost_reduce_linear, rgi_cost_reduce_tree;
rgi_cost rgi_cost_rabenseifner, rgi_cost_reduce_shm;
#define RGI_COST_BLOCKS rgi_cost_blocks, "(p - 1) (t_s + n t_w)"
#define RGI_COST_DOUBLING rgi_cost_doubling, "lg p t_s + (p - 1) n t_w"
#define RGI_COST_REDUCE_LINEAR rgi_cost_reduce_linear, "(p - 1) (t_s + n (t_w + t_c))"
#define RGI_COST_REDUCE_TREE rgi_cost_reduce_tree, "lg p (t_s + n (t_w + t_c))"
#define RGI_COST_RABENSEIFNER rgi_cost_rabenseifner, "2 lg p t_s + (p - 1)/p n (2 t_w + t_c)"
#define RGI_COST_REDUCE_SHM rgi_cost_reduce_shm, "lg p t_s + n (2 t_w + t_c)"

/* A call, as far as the choice depends on it. */
typedef struct {
  rg_operation op;
  int p, nodes;
  size_t bytes; /* of a block, or of the whole vector */
  int commutes; /* or there is nothing to combine */
  int even;     /* blocks of the same size */
  int memory;   /* shared memory may be used: blocking, elements without gaps */
  int in_order; /* every node's members are consecutive ranks */
} rgi_cost_shape;

/* Whether row of the operation's table can serve the call. */
int rgi_cost_serves(int row, const rgi_cost_shape *shape);

/* Predicted seconds. */
double rgi_cost_predict(const rgi_tuning_model *model, int row, const rgi_cost_shape *shape);

/* The best row that can serve it. messages: of those that send messages only,
 * whatever the nodes. */
int rgi_cost_choose(const rgi_tuning_model *model, const rgi_cost_shape *shape, int messages);

#endif

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
} rgi_load;

typedef double rgi_cost(const rgi_load *load);

/* lg p, rounded up. */
double rgi_lg(double p);

/* What several operations' algorithms take, each with its formula, as a row of a table has
 * them. BLOCK: one block with each member; DOUBLED: what is sent grows by rounds; FOLD: with
 * operands combined. */
rgi_cost rgi_block_cost, rgi_doubled_cost, rgi_fold_cost, rgi_fold_tree_cost;
rgi_cost rgi_rabenseifner_cost, rgi_shared_fold_cost;
#define RGI_BLOCK_COST rgi_block_cost, "(p - 1) (t_s + n t_w)"
#define RGI_DOUBLED_COST rgi_doubled_cost, "lg p t_s + (p - 1) n t_w"
#define RGI_FOLD_COST rgi_fold_cost, "(p - 1) (t_s + n (t_w + t_c))"
#define RGI_FOLD_TREE_COST rgi_fold_tree_cost, "lg p (t_s + n (t_w + t_c))"
#define RGI_RABENSEIFNER_COST rgi_rabenseifner_cost, "2 lg p t_s + (p - 1)/p n (2 t_w + t_c)"
#define RGI_SHARED_FOLD_COST rgi_shared_fold_cost, "lg p t_s + n (2 t_w + t_c)"

/* A call, as far as the choice depends on it. */
typedef struct {
  rg_operation op;
  int p, nodes;
  size_t bytes; /* of a block, or of the whole vector */
  int commutes; /* or there is nothing to combine */
  int even;     /* blocks of the same size */
  int memory;   /* shared memory may be used: blocking, elements without gaps */
  int in_order; /* every node's members are consecutive ranks */
} rgi_shape;

/* Whether row of the operation's table can serve the call. */
int rgi_serves(int row, const rgi_shape *shape);

/* Predicted seconds. */
double rgi_predict(const rgi_model *model, int row, const rgi_shape *shape);

/* The best row that can serve it. messages: of those that send messages only,
 * whatever the nodes. */
int rgi_choose(const rgi_model *model, const rgi_shape *shape, int messages);

#endif

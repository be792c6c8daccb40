/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The cost model: what an algorithm takes. Pure. */
#ifndef RGI_COST_H
#define RGI_COST_H

/* p members, n bytes; seconds for a message (ts), for a byte of it (tw), to combine a byte (tc). */
typedef struct {
  double p, n, ts, tw, tc;
} rgi_cost_params;

typedef double rgi_cost(const rgi_cost_params *params);

/* lg p, rounded up. */
double rgi_cost_lg(double p);

/* What several operations' algorithms take. Each macro is a part of a row of a table: the
 * function and its formula. BLOCKS: one block with each member; DOUBLING: what is sent grows by
 * rounds; REDUCE: operands are combined. */
rgi_cost rgi_cost_blocks, rgi_cost_doubling, rgi_cost_reduce_linear, rgi_cost_reduce_tree;
rgi_cost rgi_cost_rabenseifner, rgi_cost_reduce_shm;
#define RGI_COST_BLOCKS .cost = rgi_cost_blocks, .formula = "(p - 1) (t_s + n t_w)"
#define RGI_COST_DOUBLING .cost = rgi_cost_doubling, .formula = "lg p t_s + (p - 1) n t_w"
#define RGI_COST_REDUCE_LINEAR                                                                     \
  .cost = rgi_cost_reduce_linear, .formula = "(p - 1) (t_s + n (t_w + t_c))"
#define RGI_COST_REDUCE_TREE .cost = rgi_cost_reduce_tree, .formula = "lg p (t_s + n (t_w + t_c))"
#define RGI_COST_RABENSEIFNER                                                                      \
  .cost = rgi_cost_rabenseifner, .formula = "2 lg p t_s + (p - 1)/p n (2 t_w + t_c)"
#define RGI_COST_REDUCE_SHM                                                                        \
  .cost = rgi_cost_reduce_shm, .formula = "lg p t_s + n (2 t_w + (p - 1)/p t_c)"

#endif

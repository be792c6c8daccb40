/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The choice among an operation's algorithms: what can serve a call, what it takes by the cost
 * model, and which is best. The first three are pure functions of a table and a call. */
#ifndef RGI_CHOICE_H
#define RGI_CHOICE_H

#include <regroup/collectives.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/schedule/algorithm.h"
#include "runtime/tuning.h"

/* A call, as far as the choice depends on it. */
typedef struct {
  rg_operation op;
  int p, nodes;
  size_t bytes; /* of a block, or of the whole vector */
  int commutes; /* or there is nothing to combine */
  int even;     /* blocks of the same size */
  int memory;   /* shared memory may be used: blocking, elements without gaps */
  int in_order; /* every node's members are consecutive ranks */
  int whole;    /* the operation takes the whole vector at once */
} rgi_choice_shape;

/* Whether the algorithm can serve the call. */
int rgi_choice_serves(const rgi_algorithm *algorithm, const rgi_choice_shape *shape);

/* Predicted seconds of row of the operation's table. */
double rgi_choice_predict(const rgi_tuning_model *model, const rgi_algorithm table[], int row,
                          const rgi_choice_shape *shape);

/* The best row that can serve the call. messages: of those that send messages only,
 * whatever the nodes. */
int rgi_choice_best(const rgi_tuning_model *model, const rgi_algorithm table[],
                    const rgi_choice_shape *shape, int messages);

/* The row that uses the node's shared memory, if it can serve the call; else -1. */
int rgi_choice_memory_row(const rgi_algorithm table[], const rgi_choice_shape *shape);

/* Whether by the cost model shared memory is best for all operations and lengths on p members of
 * one node, wherever it can serve. tables: of each operation. */
int rgi_choice_prefers_memory(const rgi_algorithm *const tables[], int p);

/* For which lengths of an operation shared memory is best: a bit for 0 and for each doubling. */
typedef struct rgi_choice_lengths {
  uint64_t asked, best;
} rgi_choice_lengths;

/* Whether it is for this one, on p members of one node: at both ends of its doubling. Keeps the
 * answer. */
int rgi_choice_length_prefers_memory(rgi_choice_lengths *known, const rgi_algorithm table[],
                                     rg_operation op, int p, size_t bytes);

/* Writes the operation's steps among the members of a subgroup, by the algorithm of that row of
 * its table or, if row is -1 or cannot serve, by the best of those that send messages only. */
void rgi_choice_build(rgi_sched *sched, rg_operation op, int row, const rgi_subgroup *subgroup,
                      const rgi_algorithm_args *args);

#endif

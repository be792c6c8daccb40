/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The choice among an operation's algorithms: what can serve a call, what it takes by the cost
 * model, and which is best. All calls come here: blocking ones and others, on groups and on
 * communicators, of programs and of the library. */
#ifndef RGI_CHOICE_H
#define RGI_CHOICE_H

#include <regroup/collectives.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/schedule/algorithm.h"
#include "collectives/schedule/coll_state.h"
#include "runtime/tuning.h"
#include "shm/node.h"

/* A call, as far as the choice depends on it. */
typedef struct {
  rg_operation op;
  int p, nodes;
  size_t bytes;   /* of a block, or of the whole vector */
  int commutes;   /* or there is nothing to combine */
  int even;       /* blocks of the same size */
  int memory;     /* shared memory may be used: blocking, elements without gaps */
  int in_order;   /* every node's members are consecutive ranks */
  int whole;      /* the operation takes the whole vector at once */
  unsigned lacks; /* for the ways inside a node: rgi_choice_lacks */
} rgi_choice_shape;

/* The algorithm that a call uses: the one that is forced, if it can serve; else the best by the
 * cost model; where that is shared memory, the first of its ways that serves and suits. */
int rgi_choice_row(const rgi_coll *coll, const rgi_choice_shape *shape);

/* The needs of ways that the members on this node do not meet. */
static inline unsigned rgi_choice_lacks(const rgi_shared_state *state) {
  return (rgi_node.oversubscribed ? RGI_ALGORITHM_SPINS : 0u) |
         (state->levels ? 0u : RGI_ALGORITHM_LEVELS) | (rgi_node.pids ? 0u : RGI_ALGORITHM_READS) |
         (state->n > 2 ? 0u : RGI_ALGORITHM_THREE);
}

/* The first way of a table that serves the call and suits. Inline: a short operation takes less
 * time than the rest of the choice. */
static inline __attribute__((always_inline)) const rgi_algorithm *
rgi_choice_way(const rgi_algorithm table[], const rgi_algorithm_inside *call) {
  while ((table->needs & call->lacks) || !table->suits(call))
    table++;
  return table;
}

/* The way of a part of an operation: on the members of this node. */
rgi_way rgi_choice_inside(const rgi_sched *sched, rg_operation part, size_t bytes);

/* Whether the algorithm can serve the call. Pure, as the next ones. */
int rgi_choice_serves(const rgi_algorithm *algorithm, const rgi_choice_shape *shape);

/* Predicted seconds of row of the operation's table. */
double rgi_choice_predict(const rgi_tuning_model *model, const rgi_algorithm table[], int row,
                          const rgi_choice_shape *shape);

/* The best row that can serve the call. messages: of those that send messages only,
 * whatever the nodes. */
int rgi_choice_best(const rgi_tuning_model *model, const rgi_algorithm table[],
                    const rgi_choice_shape *shape, int messages);

/* The row "shared", if it can serve the call; else -1. */
int rgi_choice_memory_row(const rgi_algorithm table[], const rgi_choice_shape *shape);

/* Whether by the cost model shared memory is best for all operations and lengths on p members of
 * one node, wherever it can serve. tables: of each operation. */
int rgi_choice_prefers_memory(const rgi_algorithm *const tables[], int p);

/* For which lengths of an operation shared memory is best: a bit for 0 and for each doubling. */
typedef struct rgi_choice_lengths {
  uint64_t asked, best;
} rgi_choice_lengths;

/* Of a group on one node for which shared memory is not best at all lengths (coll->in_memory):
 * whether it is for this one, at both ends of its doubling. Keeps the answer. */
int rgi_choice_length_prefers_memory(const rgi_coll *coll, rg_operation op, size_t bytes);

/* Writes the operation's steps among the members of a subgroup, by the algorithm of that row of
 * its table or, if row is -1 or cannot serve, by the best of those that send messages only. */
void rgi_choice_build(rgi_sched *sched, rg_operation op, int row, const rgi_subgroup *subgroup,
                      const rgi_algorithm_args *args);

#endif

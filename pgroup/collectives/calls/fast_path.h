/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The fast path: a blocking call on a group of one node, with one of MPI's basic types and the
 * automatic choice, goes to shared memory directly. The general path (call.h) would do the
 * same, but for a few bytes takes longer than the operation itself. */
#ifndef RGI_FAST_PATH_H
#define RGI_FAST_PATH_H

#include "collectives/algorithms/choice.h"
#include "collectives/group/coll_of_group.h"
#include "collectives/node/node_coll.h"
#include "formation/datatype.h"
#include "formation/group.h"
#include "runtime/runtime.h"
#include <stdint.h>

/* Always inlined: a call costs as much as a part of what follows.
 *
 * The group's shared state, if all members are on this node and nothing is unusual about the
 * call; else NULL, and the general path finds out why. Counts the operation. Without elements, or
 * on one member, the state need not have its memory: the operation must not touch it. */
static inline __attribute__((always_inline)) rgi_shared_state *
rgi_fast_path(rg_operation op, rg_group g, MPI_Count count, const void *memory, size_t element,
              int root) {
  if (!g || g->magic != RGI_GROUP_MAGIC || g->epoch != rgi_runtime.epoch || g->me < 0 ||
      !rgi_runtime.started)
    return NULL;
  /* The caller waits for no other member if there are no elements: it needs no failure scope. */
  rgi_coll *coll = g->collectives;
  if ((!coll || count > 0) && rgi_coll_try("a collective", g, &coll))
    return NULL;
  if (coll->forced_any || count < 0 || !element || (!memory && count > 0) ||
      memory == MPI_IN_PLACE || count > PTRDIFF_MAX / 8 || root < 0 || root >= coll->all.size)
    return NULL;
  if (!coll->in_memory && !rgi_choice_length_prefers_memory(
                              coll, op, op == RG_OP_BARRIER ? 0 : (size_t)count * element))
    return NULL;
  rgi_coll_next_tag(coll);
  return coll->state;
}

/* The way of such a call. bytes: of a block, or of the whole vector. */
static inline __attribute__((always_inline)) rgi_way rgi_fast_path_way(const rgi_algorithm table[],
                                                                       rg_group g, size_t bytes) {
  const rgi_coll *coll = g->collectives;
  const rgi_algorithm_inside call = {bytes, (size_t)coll->all.size, coll->lacks};
  return rgi_choice_way(table, &call)->way;
}

/* As rgi_fast_path, for a reduction with one of the commonest operations; sets the size of its
 * elements. A result's address that is NULL, because it does not matter there, goes the general
 * path. */
static inline __attribute__((always_inline)) rgi_shared_state *
rgi_fast_path_reduction(rg_operation op, rg_group g, rgi_node_coll_reduction *reduction,
                        MPI_Count count, int root) {
  reduction->size = reduction->type == MPI_BYTE || reduction->type == MPI_CHAR
                        ? 0
                        : rgi_datatype_basic_size(reduction->type);
  if ((reduction->op != MPI_SUM && reduction->op != MPI_MAX && reduction->op != MPI_MIN) ||
      !reduction->in || reduction->in == MPI_IN_PLACE)
    return NULL;
  return rgi_fast_path(op, g, count, reduction->out, reduction->size, root);
}

#endif

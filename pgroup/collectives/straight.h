/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The straight way: a blocking call on a group of one node, with one of MPI's
 * basic types and the automatic choice, goes to shared memory at once. It does
 * what the long way would do, which for a few bytes takes longer than the
 * operation itself. */
#ifndef RGI_STRAIGHT_H
#define RGI_STRAIGHT_H

#include "collectives/apply.h"
#include "collectives/local.h"
#include "collectives/operand.h"
#include "collectives/state.h"
#include "formation/group.h"
#include "runtime/runtime.h"
#include <stdint.h>

/* The group's members on this node, if they are all of them and nothing is unusual
 * about the call; else NULL, and the long way finds out what. Counts the
 * operation. */
static inline rgi_local *rgi_straight(rg_group g, MPI_Count count, const void *memory,
                                      size_t element, int root) {
  rgi_state *state;
  if (!g || g->magic != RGI_GROUP_MAGIC || g->epoch != rgi_rt.epoch || g->me < 0 ||
      !rgi_rt.started || rgi_state_of("a collective", g, &state))
    return NULL;
  if (state->forced_any || state->nodes.count != 1 || count <= 0 || !element || !memory ||
      memory == MPI_IN_PLACE || count > PTRDIFF_MAX / 8 || root < 0 || root >= state->everyone.size)
    return NULL;
  rgi_count_operation(state);
  return state->local;
}

/* The same for a reduction with one of the commonest operations. A recv that is
 * NULL, because it does not matter there, goes the long way. */
static inline rgi_local *rgi_straight_reduction(rg_group g, const void *send, const void *recv,
                                                MPI_Count count, MPI_Datatype type, MPI_Op op,
                                                int root) {
  size_t size = type == MPI_BYTE || type == MPI_CHAR ? 0 : rgi_basic_size(type);
  if ((op != MPI_SUM && op != MPI_MAX && op != MPI_MIN) || !send || send == MPI_IN_PLACE)
    return NULL;
  return rgi_straight(g, count, recv, size, root);
}

#endif

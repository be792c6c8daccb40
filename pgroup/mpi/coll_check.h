/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which collectives are passed on because MPI refuses their arguments. MPI is asked before anything
 * is sent, on a communicator of this process alone. What the library's operations check themselves
 * (counts, roots, NULL) is not asked here. */
#ifndef RGI_COLL_CHECK_H
#define RGI_COLL_CHECK_H

#include <stdint.h>

#include "formation/datatype.h"

/* Whether MPI refuses a type: a handle of nothing, one that is not committed; an operation on a
 * type. */
int rgi_coll_check_ask_type(MPI_Datatype type);
int rgi_coll_check_ask_op(MPI_Datatype type, MPI_Op op);

/* One side of a call: the first of the caller's own elements in it. Where the caller has no such
 * side count is -1 and memory MPI_IN_PLACE. */
typedef struct {
  const void *memory;
  MPI_Count at, count;
  MPI_Datatype type;
} rgi_coll_check_side;

static inline __attribute__((always_inline)) rgi_coll_check_side
rgi_coll_check_side_of(const void *memory, MPI_Count at, MPI_Count count, MPI_Datatype type) {
  return (rgi_coll_check_side){.memory = memory, .at = at, .count = count, .type = type};
}

/* Whether MPI refuses operand and result at one address. */
int rgi_coll_check_ask_alias(void);

static inline int rgi_coll_check_type(MPI_Datatype type) {
  return !rgi_datatype_basic_size(type) && rgi_coll_check_ask_type(type);
}

/* recv: NULL where the caller gets no result. */
static inline int rgi_coll_check_reduction(const void *send, const void *recv, MPI_Count count,
                                           MPI_Datatype type, MPI_Op op) {
  int is_usual =
      (op == MPI_SUM || op == MPI_MAX || op == MPI_MIN) && rgi_datatype_basic_size(type) > 1;
  return (!is_usual && rgi_coll_check_ask_op(type, op)) ||
         (send == recv && recv && count > 0 && rgi_coll_check_ask_alias());
}

int rgi_coll_check_sides_slowly(const rgi_coll_check_side *send, const rgi_coll_check_side *recv);

static inline uintptr_t rgi_coll_check_begin(const rgi_coll_check_side *side, MPI_Count size) {
  return (uintptr_t)side->memory + (uintptr_t)(side->at * size);
}

/* Whether two sides are refused: for a type, or since both begin at the same address, by the size
 * of the type, as MPICH reckons it. */
static inline __attribute__((always_inline)) int rgi_coll_check_sides(rgi_coll_check_side send,
                                                                      rgi_coll_check_side recv) {
  MPI_Count size = (MPI_Count)rgi_datatype_basic_size(send.type);
  int is_usual = size && (recv.type == send.type || rgi_datatype_basic_size(recv.type)) &&
                 rgi_coll_check_begin(&send, size) != rgi_coll_check_begin(&recv, size);
  return !is_usual && rgi_coll_check_sides_slowly(&send, &recv);
}

#endif

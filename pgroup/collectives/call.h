/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A collective as the user calls it, and the one way from there to its end:
 * check, make dense, choose, write the schedule, run it. */
#ifndef RGI_CALL_H
#define RGI_CALL_H

#include <regroup/collectives.h>

#include "collectives/algorithm.h"

/* What a member gives or gets: a block, or one for each rank, of count elements each; or, in the
 * vector forms, of counts[i] elements that begin displs[i] extents from memory. */
typedef struct {
  const void *memory; /* the receive side's is written to */
  MPI_Datatype type;
  MPI_Count count;
  const MPI_Count *counts;
  const MPI_Aint *displs;
} rgi_call_side;

typedef struct {
  rg_operation operation;
  const char *name; /* of the function */
  rg_group group;
  int root;                 /* 0 where there is none */
  rgi_call_side send, recv; /* a reduction's vector is described by recv */
  MPI_Op op;
} rgi_call;

/* For the side that is written to. */
static inline void *rgi_call_memory(const rgi_call_side *u) {
  void *memory;
  __builtin_memcpy(&memory, &u->memory, sizeof memory);
  return memory;
}

static inline rgi_call_side rgi_call_block(const void *memory, MPI_Count count, MPI_Datatype type) {
  return (rgi_call_side){.memory = memory, .type = type, .count = count};
}

static inline rgi_call_side rgi_call_vector(const void *memory, const MPI_Count counts[],
                                            const MPI_Aint displs[], MPI_Datatype type) {
  return (rgi_call_side){.memory = memory, .type = type, .counts = counts, .displs = displs};
}

/* Checks, chooses, runs to the end, or starts a request. name: the public function. */
int rgi_call_run(rgi_call *c, const char *name);
int rgi_call_start(rgi_call *c, const char *name, rg_request *request);

/* Checks the caller's arguments and finds their dense form; s gets what is left to do at the
 * end, the unpacking. */
int rgi_call_prepare(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A collective as the user calls it, and the one way from there to its end:
 * check, make dense, choose, write the schedule, run it. */
#ifndef RGI_CALL_H
#define RGI_CALL_H

#include <regroup/collectives.h>

#include "collectives/schedule/algorithm.h"

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
  int root; /* 0 where there is none */
  rgi_call_side send, recv;
  MPI_Op op;
} rgi_call;

/* For the side that is written to. */
static inline void *rgi_call_memory(const rgi_call_side *side) {
  void *memory;
  __builtin_memcpy(&memory, &side->memory, sizeof memory);
  return memory;
}

/* Filling in a call, field by field: to build its sides as values and copy them would take a
 * noticeable part of a short operation. */
static inline void rgi_call_begin(rgi_call *call, rg_operation operation, rg_group g, int root) {
  call->operation = operation;
  call->group = g;
  call->root = root;
  call->send = call->recv = (rgi_call_side){.type = MPI_DATATYPE_NULL};
  call->op = MPI_OP_NULL;
}

static inline void rgi_call_block(rgi_call_side *side, const void *memory, MPI_Count count,
                                  MPI_Datatype type) {
  side->memory = memory;
  side->type = type;
  side->count = count;
}

static inline void rgi_call_vector(rgi_call_side *side, const void *memory,
                                   const MPI_Count counts[], const MPI_Aint displs[],
                                   MPI_Datatype type) {
  side->memory = memory;
  side->type = type;
  side->counts = counts;
  side->displs = displs;
}

/* Checks, chooses, runs to the end, or starts a request. name: the public function. */
int rgi_call_run(rgi_call *call, const char *name);
int rgi_call_start(rgi_call *call, const char *name, rg_request *request);

/* Checks the caller's arguments and finds their dense form; sched gets what is left to do at the
 * end, the unpacking. */
int rgi_call_prepare(rgi_sched *sched, const rgi_call *call, rgi_algorithm_args *args);

#endif

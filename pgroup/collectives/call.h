/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A collective as the user calls it, and the one way from there to its end:
 * check, make dense, choose, write the schedule, run it. */
#ifndef RGI_CALL_H
#define RGI_CALL_H

#include <regroup/collectives.h>

#include "collectives/algorithm.h"

typedef struct {
  rg_operation operation;
  const char *name; /* of the function */
  rg_group group;
  int root;
  const void *send;
  void *recv;
  /* One count, or counts and displacements (v: the side has such). */
  MPI_Count send_count, recv_count;
  const MPI_Count *send_counts, *recv_counts;
  const MPI_Aint *send_displs, *recv_displs;
  MPI_Datatype send_type, recv_type;
  MPI_Op op;
} rgi_call;

/* Those in which the members exchange blocks, and those that combine operands. root is 0 where
 * there is none. */
rgi_call rgi_call_blocks(rg_operation operation, const char *name, rg_group g, const void *send,
                         MPI_Count send_count, MPI_Datatype send_type, void *recv,
                         MPI_Count recv_count, MPI_Datatype recv_type, int root);
rgi_call rgi_call_reduction(rg_operation operation, const char *name, rg_group g, const void *send,
                            void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root);

/* request NULL: blocking. */
int rgi_call_run(const rgi_call *c, rg_request *request);

#define RGI_CALL_START(c, request)                                                                 \
  ((request) ? rgi_call_run(&(c), request) : rgi_error(RG_ERR_ARG, "%s: request is NULL", __func__))

/* Checks what the caller gave, and finds the dense form of it: a problem, and
 * what is left to do at the end in s. */
int rgi_call_prepare(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p);

#endif

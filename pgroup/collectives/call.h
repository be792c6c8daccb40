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

/* Checks, chooses, runs; request NULL: blocking. */
int rgi_call_run(const rgi_call *c, rg_request *request);

#define RGI_CALL_START(c, request)                                                                 \
  ((request) ? rgi_call_run(&(c), request) : rgi_error(RG_ERR_ARG, "%s: request is NULL", __func__))

/* Checks the caller's arguments and finds their dense form; s gets what is left to do at the
 * end, the unpacking. */
int rgi_call_prepare(rgi_sched *s, const rgi_call *c, rgi_algorithm_args *p);

#endif

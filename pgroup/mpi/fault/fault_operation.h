/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Non-blocking operations that the library makes itself: MPIX_Comm_iagree, MPIX_Comm_ishrink,
 * MPI_Comm_idup. The program has a generalized request of MPI's, which is complete when the
 * operation is. Operations go on in all waits of the process that the library sees. */
#ifndef RGI_FAULT_OPERATION_H
#define RGI_FAULT_OPERATION_H

#include "mpi/fault/fault_comm.h"

/* The first member of each operation's own structure. */
typedef struct rgi_fault_operation {
  /* Goes on without waiting. Returns an error, with which the operation ends; *done: it ends well.
   * It does not call the functions of this file. */
  int (*step)(struct rgi_fault_operation *operation, int *done);
  /* NULL, or what is left to do in a wait for the request, after that of all that began before: it
   * waits for other members that wait, too. Returns an error. */
  int (*finish)(struct rgi_fault_operation *operation);
  void (*free)(struct rgi_fault_operation *operation);
  rgi_fault_comm *state;
  MPI_Request request;
  int due; /* finish can be called */
  struct rgi_fault_operation *next;
} rgi_fault_operation;

/* Starts it, with a request for the program. The operation is taken over. Returns MPI's code. */
int rgi_fault_operation_start(rgi_fault_operation *operation, MPI_Request *request);

/* All go on. */
void rgi_fault_operation_progress(void);

/* In a wait for this request. */
void rgi_fault_operation_finish(MPI_Request request);

/* Whether a wait for this request would end it. */
int rgi_fault_operation_is_due(MPI_Request request);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The transport of a job that need not survive: MPI's one-sided operations on ARMCI's window
 * over all heap parts. */
#ifndef RGI_RMA_H
#define RGI_RMA_H

#include <mpi.h>

#include "engine/transfer.h"

typedef struct {
  MPI_Win window; /* ARMCI's, over all heap parts: displacements are offsets */
  void **bases;   /* of each world rank's heap part, in that process */
} rgi_rma_state;

extern rgi_rma_state rgi_rma;

/* Start and stop (rma.c). Where the program has started ARMCI itself it must be over the
 * processes of rg_init: RG_ERR_UNSUPPORTED. */
int rgi_rma_check_world(void);
/* Memory for tables. RG_ERR_NOMEM. */
int rgi_rma_open(void);
void rgi_rma_close(void);
/* Collective: starts ARMCI and registers the open heap; also after an error, which is the
 * caller's own, rgi_rma_stop is to be called. */
int rgi_rma_start(void);
void rgi_rma_stop(void);

/* Starts a transfer as one operation of MPI (rma_issue.c): so many bytes, at most
 * rgi_transfer_most. */
int rgi_rma_issue(const rgi_transfer *t, int64_t bytes, rgi_transfer_piece *p);

/* Order (rma_order.c). Before an operation on [low, high) of the target's heap part: waits
 * for those of this process before it that MPI might do after it. */
int rgi_rma_before(int target, rgi_transfer_kind kind, uint64_t low, uint64_t high);
/* When it has been started. */
void rgi_rma_started(int target, rgi_transfer_kind kind, uint64_t low, uint64_t high);
int rgi_rma_order_open(int targets);
void rgi_rma_order_close(void);

/* As rgi_engine_fence (rma_order.c). */
int rgi_rma_fence(int target);

/* How many operations are under way to one target (rma_order.c): no more than MPI can bear.
 * enter waits, for what was started, if there are more; *turn is given to left when
 * the operation is complete. */
int rgi_rma_enter(int target, unsigned *turn);
void rgi_rma_left(int target, unsigned turn);

/* The thread that serves other processes (rma_thread.c). */
void rgi_rma_thread_start(void);
void rgi_rma_thread_stop(void);

#endif

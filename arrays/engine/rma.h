/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The transport of a job that need not survive: MPI's one-sided operations on ARMCI's window
 * over all heap parts. */
#ifndef RGI_RMA_H
#define RGI_RMA_H

#include <mpi.h>

#include "engine/transport.h"

extern const rgi_transport rgi_rma_transport;

typedef struct {
  MPI_Win window; /* ARMCI's, over all heap parts: displacements are offsets */
  void **bases;   /* of each world rank's heap part, in that process */
  int may_block;  /* there is no time limit: a put or get may end with a flush */
} rgi_rma_state;

extern rgi_rma_state rgi_rma;

/* Gets, puts and accumulates (rma_issue.c). */
int rgi_rma_begin(const rgi_transfer *t, rgi_transport_op **op);
int rgi_rma_test(rgi_transport_op *op, int *done);
int rgi_rma_wait(rgi_transport_op *op, rgi_wait *w);
void rgi_rma_drop(rgi_transport_op *op);
/* Ends the operations that were dropped before they were done. */
void rgi_rma_end_dropped(int mpi);

/* By ARMCI's vector operations (rma_elements.c); one integer (rma_word.c). */
int rgi_rma_elements(const rgi_transfer_elements *e);
int rgi_rma_word(const rgi_transfer_word *w, int64_t *before);

/* Order (rma_order.c). Before an operation on [low, high) of the target's heap part: waits for
 * those of this process before it that MPI might do after it. turn: not NULL: the operation is
 * under way from now on until rgi_rma_left, which is given *turn. No more of them go to one target
 * than MPI can bear: if there are more, what was started is waited for. */
int rgi_rma_before(int target, rgi_access_kind kind, uint64_t low, uint64_t high, unsigned *turn);
void rgi_rma_left(int target, unsigned turn);
/* When it has been started. */
void rgi_rma_started(int target, rgi_access_kind kind, uint64_t low, uint64_t high);

int rgi_rma_order_open(int targets);
void rgi_rma_order_close(void);

/* As rgi_engine_settle, _fence and _finish (rma_order.c). */
int rgi_rma_settle(int target, uint64_t low, uint64_t high);
int rgi_rma_fence(int target);
int rgi_rma_finish(void);

/* The thread that serves other processes (rma_thread.c). */
void rgi_rma_thread_start(void);
void rgi_rma_thread_stop(void);

#endif

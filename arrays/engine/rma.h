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
  int one_by_one; /* ARMCI's vector operations are one of MPI's for each element, not one in all */
} rgi_rma_state;

extern rgi_rma_state rgi_rma;

/* Gets, puts and accumulates (rma_issue.c). */
int rgi_rma_begin(const rgi_transfer *transfer, rgi_transport_op **op);
int rgi_rma_test(rgi_transport_op *op, int *done);
int rgi_rma_wait(rgi_transport_op *op, rgi_wait *wait);
void rgi_rma_drop(rgi_transport_op *op);
/* Ends the operations that were dropped before they were done. */
void rgi_rma_end_dropped(int mpi);

/* By ARMCI's vector operations (rma_elements.c); one integer (rma_word.c). */
int rgi_rma_elements(const rgi_transfer_elements *elements);
int rgi_rma_word(const rgi_transfer_word *word, int64_t *before);

/* Operations that all processes together may have under way at one target. Not changed while the
 * transport is open; the same on all processes. */
extern int rgi_rma_bearable;

/* What an operation counts among those under way. */
typedef struct {
  int ops;       /* operations of MPI; the caller's, rgi_rma_room_most() at most */
  int word;      /* of 8 contiguous bytes, and waited for: passes no gate */
  unsigned turn; /* set by rgi_rma_before */
} rgi_rma_room;

/* Of one process at one target. */
int rgi_rma_room_most(void);

/* Order (rma_order.c). Before an operation on [low, high) of the target's heap part: waits for
 * those of this process before it that MPI might do after it. room: not NULL: until there is room
 * for it, too; then it is under way, until rgi_rma_left or a fence. */
int rgi_rma_before(int target, rgi_access_kind kind, uint64_t low, uint64_t high,
                   rgi_rma_room *room);
/* When it has been issued, also in vain. kind: a put's or an accumulate's range is noted. */
int rgi_rma_started(int target, rgi_access_kind kind, uint64_t low, uint64_t high,
                    const rgi_rma_room *room);
/* When it is complete. */
void rgi_rma_left(int target, const rgi_rma_room *room);

/* The gate of a target (rma_gate.c): at most `most` processes are between enter and leave. enter
 * waits for others, which must not wait for the caller meanwhile. open is collective. */
int rgi_rma_gate_open(void);
void rgi_rma_gate_close(void);
int rgi_rma_gate_enter(int target, int most);
int rgi_rma_gate_leave(int target);

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

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What carries an access to another node. There are two transports: one-sided operations of MPI on
 * ARMCI's window (rma.h), and in a job that survives queries to the node daemons
 * (daemon_transport.c). rg_init chooses one of them, the same for all processes. */
#ifndef RGI_TRANSPORT_H
#define RGI_TRANSPORT_H

#include "engine/transfer.h"
#include "progress/wait.h"

/* An operation that has been begun; the transport's own follow. */
typedef struct rgi_transport_op {
  struct rgi_transport_op *next; /* of the same transfer */
  const char *call;              /* the public function */
  int target;
} rgi_transport_op;

typedef struct {
  int64_t most; /* bytes of one operation */

  /* Starting and stopping. open is local and takes memory for tables; start is collective, the
   * array heap is open, and stop follows it also after an error. close follows open. mpi: MPI can
   * still be called. */
  int (*open)(void);
  int (*start)(void);
  void (*stop)(int mpi);
  void (*close)(void);

  /* Begins a get, put or accumulate: a patch of `most` bytes at most, or runs. The caller may free
   * its runs and alpha when this has returned, its buffer only when the operation is done. */
  int (*begin)(const rgi_transfer *t, rgi_transport_op **op);
  /* Whether a put's or an accumulate's buffer may be used again, or a get's data are there; test
   * never waits. */
  int (*test)(rgi_transport_op *op, int *done);
  int (*wait)(rgi_transport_op *op, rgi_wait *w);
  /* The caller does not test it any more. It is carried out all the same. */
  void (*drop)(rgi_transport_op *op);

  /* Both wait. Of elements there are `most` bytes at most, or one element. */
  int (*elements)(const rgi_transfer_elements *e);
  int (*word)(const rgi_transfer_word *w, int64_t *before);

  /* As rgi_engine_settle, _fence, _lost and _progress. */
  int (*settle)(int target, uint64_t low, uint64_t high);
  int (*fence)(int target);
  /* Waits until all operations of this process are complete at their targets, gets as well. */
  int (*finish)(void);
  int (*lost)(int target);
  void (*progress)(void);
} rgi_transport;

/* The engine's transport in a job that survives: queries to the node daemons
 * (noded/server/server.h), without MPI and ARMCI. An operation on memory of the caller's node is
 * complete when it has been started. The elements of a dead process can be reached as long as a
 * process of its node lives; after that, all operations on that node end with RG_ERR_PROC_FAILED.
 * Operations of one process on one node are done in the order in which they were started. Starting
 * takes memory only: connections are made when they are needed. */
extern const rgi_transport rgi_transport_daemon;

#endif

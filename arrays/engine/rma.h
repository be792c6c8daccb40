/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the files of the engine share. */
#ifndef RGI_RMA_H
#define RGI_RMA_H

#include <mpi.h>

#include "engine/engine.h"

typedef struct {
  int open;
  MPI_Win window;  /* ARMCI's, over all shares: displacements are offsets */
  void **bases;    /* of each world rank's share, there */
  uint64_t size;   /* of each share */
  int64_t most;    /* bytes of one operation; more are cut */
  char *node_heap; /* this node's array heap, in this process */
} rgi_rma_state;

extern rgi_rma_state rgi_rma;

/* Order (rma_order.c). Before an operation on [low, high) of the target's share: waits
 * for those of this process before it that MPI might do after it. */
int rgi_rma_before(int target, rgi_engine_kind kind, uint64_t low, uint64_t high);
/* When it has been started. */
void rgi_rma_started(int target, rgi_engine_kind kind, uint64_t low, uint64_t high);
int rgi_rma_order_open(int targets);
void rgi_rma_order_close(void);

/* How much is under way (rma_order.c): so many operations to one target as MPI can bear.
 * enter waits, for what was started, if there are more; *turn is given to left when
 * the operation is complete. */
int rgi_rma_enter(int target, unsigned *turn);
void rgi_rma_left(int target, unsigned turn);

/* Ends what was given up after a time limit (engine_transfer.c). */
void rgi_engine_end_given_up(int mpi);

/* Patches (strided.c). The same bytes with as few dimensions as possible, at least
 * one; returns how many bytes. */
int64_t rgi_strided_simplify(const rgi_strided *p, rgi_strided *simple);
/* How far a side reaches: from its first byte behind its last. */
uint64_t rgi_strided_reach(const rgi_strided *p, const int64_t stride[]);
int rgi_strided_is_contiguous(const rgi_strided *p, const int64_t stride[]);
/* One side as an MPI type over elements of `size` bytes: *count of *type; to be
 * freed if it is not `element`. */
int rgi_strided_mpi_type(const rgi_strided *p, const int64_t stride[], MPI_Datatype element,
                         size_t size, int *count, MPI_Datatype *type);
/* The near side, packed and times alpha. */
void rgi_strided_scale(const rgi_strided *p, const char *from, rg_type type, const void *alpha,
                       char *to);
/* n elements: to[i] = *alpha * from[i]. */
void rgi_scalar_multiply(rg_type type, const void *alpha, size_t n, const void *from, void *to);
MPI_Datatype rgi_scalar_mpi_type(rg_type type, size_t *size);
/* An element of any type; complex ones are two reals. */
typedef union {
  double real2[2];
  float real[2];
  int64_t int64;
  int32_t int32;
} rgi_scalar;
rgi_scalar rgi_scalar_one(rg_type type);
/* Whether alpha is NULL or 1. */
int rgi_scalar_is_one(rg_type type, const void *alpha);

/* The thread that serves others (rma_thread.c). */
void rgi_rma_thread_start(void);
void rgi_rma_thread_stop(void);

#endif

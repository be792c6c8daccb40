/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the files of the engine share. */
#ifndef RGI_REMOTE_H
#define RGI_REMOTE_H

#include <mpi.h>

#include "engine/engine.h"

typedef struct {
  int open;
  MPI_Win window;  /* ARMCI's, over all shares: displacements are offsets */
  void **bases;    /* of each world rank's share, there */
  uint64_t size;   /* of each share */
  int64_t most;    /* bytes of one operation; more are cut */
  char *neighbour; /* the shares of this node, in this process */
} rgi_remote_state;

extern rgi_remote_state rgi_remote;

/* Order (order.c). Before an operation on [low, high) of the target's share: waits
 * for those of this process before it that MPI might do after it. */
int rgi_remote_before(int target, rgi_remote_kind kind, uint64_t low, uint64_t high);
/* When it has been started. */
void rgi_remote_started(int target, rgi_remote_kind kind, uint64_t low, uint64_t high);
int rgi_remote_order_open(int targets);
void rgi_remote_order_close(void);

/* How much is under way (order.c): so many operations to one target as MPI can bear.
 * enter waits, for what was started, if there are more; *turn is given to left when
 * the operation is complete. */
int rgi_remote_enter(int target, unsigned *turn);
void rgi_remote_left(int target, unsigned turn);

/* Ends what was given up after a time limit (move.c). */
void rgi_remote_move_close(int mpi);

/* Patches (patch.c). The same bytes with as few dimensions as possible, at least
 * one; returns how many bytes. */
int64_t rgi_remote_simplify(const rgi_far_patch *p, rgi_far_patch *simple);
/* How far a side reaches: from its first byte behind its last. */
uint64_t rgi_remote_reach(const rgi_far_patch *p, const int64_t stride[]);
int rgi_remote_contiguous(const rgi_far_patch *p, const int64_t stride[]);
/* One side as an MPI type over elements of `size` bytes: *count of *type; to be
 * freed if it is not `element`. */
int rgi_remote_type(const rgi_far_patch *p, const int64_t stride[], MPI_Datatype element,
                    size_t size, int *count, MPI_Datatype *type);
/* The near side, packed and times alpha. */
void rgi_remote_scale(const rgi_far_patch *p, const char *from, rg_type type, const void *alpha,
                      char *to);
/* n elements: to[i] = *alpha * from[i]. */
void rgi_remote_multiply(rg_type type, const void *alpha, size_t n, const void *from, void *to);
MPI_Datatype rgi_remote_mpi_type(rg_type type, size_t *size);
/* An element of any type; complex ones are two reals. */
typedef union {
  double real2[2];
  float real[2];
  int64_t int64;
  int32_t int32;
} rgi_remote_number;
rgi_remote_number rgi_remote_one(rg_type type);
/* Whether alpha is NULL or 1. */
int rgi_remote_is_one(rg_type type, const void *alpha);

/* The thread that serves others (thread.c). */
void rgi_remote_thread_start(void);
void rgi_remote_thread_stop(void);

#endif

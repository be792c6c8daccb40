/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One access to the memory of a window's member. It is complete when its call returns: no target
 * takes part. */
#ifndef RGI_WIN_ACCESS_H
#define RGI_WIN_ACCESS_H

#include "mpich/windows/win.h"

typedef enum { RGI_WIN_PUT, RGI_WIN_GET, RGI_WIN_ACCUMULATE, RGI_WIN_GET_ACCUMULATE } rgi_win_kind;

/* Elements in memory. */
typedef struct {
  void *memory;
  MPI_Count count;
  MPI_Datatype type;
} rgi_win_buffer;

typedef struct {
  rgi_win_kind kind;
  const char *call; /* MPI's function */
  int rank;
  MPI_Aint disp;
  MPI_Op op;             /* of accumulates */
  rgi_win_buffer origin; /* of a get: where the elements go */
  rgi_win_buffer result; /* of a get-accumulate */
  rgi_win_buffer target; /* its memory is found by rank and disp */
} rgi_win_access;

/* As rgi_win_raise (win_stand_in.c). */
int rgi_win_raise_access(rgi_win *window, int class, const rgi_win_access *access);

/* Makes the access. MPI's error code, after the window's error handler. */
int rgi_win_access_make(rgi_win *window, rgi_win_access *access);

/* As rgi_win_access_make for an accumulate of the commonest kind alone: 0 where it is of another,
 * or wrong, and has not been begun. */
int rgi_win_access_common(rgi_win *window, const rgi_win_access *access, int *code);

/* The target for an access to `bytes` bytes that begin `low` behind disp. MPI_SUCCESS, or the class
 * of the error: MPI_ERR_RANK, MPI_ERR_DISP, MPI_ERR_RMA_SYNC, MPI_ERR_RMA_RANGE. *at NULL: the rank
 * is MPI_PROC_NULL, nothing is to be done. */
int rgi_win_access_place(rgi_win *window, const rgi_win_access *access, int64_t low, int64_t bytes,
                         char **at);

/* What MPI does not find in an access before it makes it: MPI_ERR_RMA_RANGE, beyond the target's
 * memory; MPI_ERR_OP, one of MPI's operations on a type that does not take it. Or MPI_SUCCESS. */
int rgi_win_access_check(rgi_win *window, const rgi_win_access *access);

/* Whether accumulates of elements of this basic type take the operation: one of MPI's own. */
int rgi_win_access_takes(MPI_Datatype type, MPI_Op op);

/* Accumulates at a target are made between these two. An error of the library's. */
static inline int rgi_win_access_lock(rgi_win *window, int rank) {
  rgi_lock *lock = &window->target[rank].part->accumulating;
  return rgi_lock_try(lock) ? RG_SUCCESS : rgi_lock_wait_robust(lock, "MPI_Accumulate");
}

static inline void rgi_win_access_unlock(rgi_win *window, int rank) {
  rgi_lock_release(&window->target[rank].part->accumulating);
}

#endif

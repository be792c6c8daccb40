/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Windows that span nodes. Such a window is MPI's, on memory of the nodes' arenas, and its handle
 * is MPI's. Puts and gets to targets on the caller's node are made here, by loads and stores. All
 * else is MPI's: epochs, accesses to other nodes, and every accumulate, so that all accumulates at
 * a target are made in one way. A process that makes no access here at all is right, too: nothing
 * has to be agreed after the window is made.
 *
 * An access here is made when its call is made. So MPI must open epochs at once
 * (mpich/mpich.h). Where it delays that, these windows are passed on to MPI. */
#ifndef RGI_WIN_NODES_H
#define RGI_WIN_NODES_H

#include "mpich/windows/win_access.h"

/* Numbers of accesses that were passed on to MPI, from 1 on: the last one that was issued, and the
 * last one that is known to be complete. */
typedef struct {
  atomic_ullong issued, completed;
} rgi_win_nodes_passed;

typedef struct {
  rgi_win *window; /* its handle is MPI's; targets on other nodes have no base */
  struct rgi_members *members;
  rgi_win_nodes_passed all;
  rgi_win_nodes_passed at[]; /* each target */
} rgi_win_nodes;

/* --- handles (win_nodes_table.c) ------------------------------------------------------------- */

extern atomic_int rgi_win_nodes_count;

rgi_win_nodes *rgi_win_nodes_find(MPI_Win handle);

/* The window of a handle that is no served window's, or NULL: the call is passed on. */
static inline rgi_win_nodes *rgi_win_nodes_of(MPI_Win handle) {
  return atomic_load_explicit(&rgi_win_nodes_count, memory_order_acquire)
             ? rgi_win_nodes_find(handle)
             : NULL;
}

/* 0: there are too many. */
int rgi_win_nodes_add(rgi_win_nodes *nodes);
void rgi_win_nodes_remove(rgi_win_nodes *nodes);

/* --- making and freeing (win_nodes.c) -------------------------------------------------------- */

/* What a member has of a window that is being made. */
typedef struct {
  MPI_Comm comm;
  MPI_Info info;
  rg_group group; /* of comm */
  int flavor;
  int64_t size, disp_unit;
  void *base;   /* where its memory is */
  void *memory; /* what is to be freed with the window */
  int lacks;    /* the class of an error that it has, or MPI_SUCCESS */
} rgi_win_plan;

/* Members call. ready: the caller has its memory. 1 and MPI's code; or 0: pass the call on, all
 * members do; plan->memory has been freed. */
int rgi_win_nodes_make(const rgi_win_plan *plan, int ready, MPI_Win *win, int *answer);

/* MPI_Win_free for a window that is not served. */
int rgi_win_nodes_free(MPI_Win *win);

/* --- accesses -------------------------------------------------------------------------------- */

/* 1: the access is made, or wrong, with MPI's code. 0: pass it on. */
int rgi_win_nodes_access(rgi_win_nodes *nodes, rgi_win_access *access, int *code);

/* An access has been passed on. */
void rgi_win_nodes_issued(rgi_win_nodes *nodes, int rank);

static inline void rgi_win_nodes_raise(atomic_ullong *number, unsigned long long to) {
  unsigned long long old = atomic_load(number);
  while (old < to && !atomic_compare_exchange_weak(number, &old, to))
    ;
}

/* A call of MPI's that waits for members, which a death does not end. */
#define RGI_WIN_WAITING(nodes, function, ...)                                                      \
  ({                                                                                               \
    const rgi_win_nodes *nodes_ = (nodes);                                                         \
    if (nodes_ && rgi_intercept_fault.watch)                                                       \
      rgi_intercept_fault.watch(nodes_->members, #function);                                       \
    int code_ = RGI_INTERCEPT_NEXT(P##function)(__VA_ARGS__);                                      \
    if (nodes_ && rgi_intercept_fault.watch)                                                       \
      rgi_intercept_fault.watch(NULL, NULL);                                                       \
    code_;                                                                                         \
  })

/* --- epochs of windows that are not served (win_nodes_epoch.c) ------------------------------- */

int rgi_win_nodes_lock(int type, int rank, int assertion, MPI_Win win);
int rgi_win_nodes_unlock(int rank, MPI_Win win);
int rgi_win_nodes_lock_all(int assertion, MPI_Win win);
int rgi_win_nodes_unlock_all(MPI_Win win);
int rgi_win_nodes_flush(int rank, MPI_Win win);
int rgi_win_nodes_flush_all(MPI_Win win);
int rgi_win_nodes_flush_local(int rank, MPI_Win win);
int rgi_win_nodes_flush_local_all(MPI_Win win);
int rgi_win_nodes_fence(int assertion, MPI_Win win);
int rgi_win_nodes_start(MPI_Group group, int assertion, MPI_Win win);
int rgi_win_nodes_complete(MPI_Win win);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Epochs: locks, fences, post-start-complete-wait, and flushes. Accesses are complete when their
 * calls return, so that the end of an epoch only has to order memory and to tell the others. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/error.h"
#include "formation/failure_scope.h"
#include "formation/group.h"
#include "mpi/intercept.h"
#include "mpich/mpich.h"
#include "mpich/windows/win_nodes.h"
#include "progress/wait.h"

static rgi_win_target *target_at(rgi_win *window, int rank) {
  return rank >= 0 && rank < window->n ? &window->target[rank] : NULL;
}

/* A wait for members, which a member's death ends. */
static void start_wait(rgi_wait *wait, const rgi_win *window, const char *call, int rank) {
  rgi_wait_start(wait, call, rank < 0 ? -1 : rgi_members_at(window->group->members, rank));
  wait->scope = rgi_failure_scope_of(window->group->members);
}

/* Accesses of all threads before it are visible to all processes before what comes after it. */
static void order_memory(void) {
  atomic_thread_fence(memory_order_seq_cst);
}

/* --- locks --------------------------------------------------------------------------------- */

static rgi_shared_lock_user lock_of(const rgi_win *window, int rank) {
  rgi_win_part *part = window->target[rank].part;
  return (rgi_shared_lock_user){
      .lock = &part->lock, .claims = part->claims, .n = window->n, .me = window->me};
}

/* No death ends the wait: the lock of a dead owner is given back. */
static int lock_target(rgi_win *window, int rank, rgi_win_opening as, const char *call) {
  rgi_wait wait;
  if (as != RGI_WIN_UNCHECKED) {
    rgi_shared_lock_user user = lock_of(window, rank);
    rgi_wait_start_unscoped(&wait, call, -1);
    RGI_TRY(rgi_shared_lock_acquire(
        &user, as == RGI_WIN_SHARED ? RGI_SHARED_LOCK_SHARED : RGI_SHARED_LOCK_EXCLUSIVE, &wait));
  }
  window->target[rank].opening = as;
  return RG_SUCCESS;
}

static void unlock_target(rgi_win *window, int rank) {
  rgi_win_target *t = &window->target[rank];
  rgi_shared_lock_user user = lock_of(window, rank);
  if (t->opening == RGI_WIN_SHARED)
    rgi_shared_lock_release(&user, RGI_SHARED_LOCK_SHARED);
  if (t->opening == RGI_WIN_EXCLUSIVE)
    rgi_shared_lock_release(&user, RGI_SHARED_LOCK_EXCLUSIVE);
  t->opening = RGI_WIN_CLOSED;
}

/* MPI's call polls and does not wait (mpich/polite_calls.c). */
static int end_row(int code) {
  rgi_mpich_end_row();
  return code;
}

RG_API int MPI_Win_lock(int type, int rank, int assertion, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_LOCK);
  if (!window)
    return rgi_win_nodes_lock(type, rank, assertion, win);
  if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
    return rgi_win_raise(window, MPI_ERR_ARG, __func__, rank); /* MPICH's class of it */
  if (assertion != 0 && assertion != MPI_MODE_NOCHECK)
    return rgi_win_raise(window, MPI_ERR_ARG, __func__, rank);
  rgi_win_target *t = target_at(window, rank);
  if (!t && rank != MPI_PROC_NULL)
    return rgi_win_raise(window, MPI_ERR_RANK, __func__, rank);
  if (window->access == RGI_WIN_LOCK_ALL || window->access == RGI_WIN_START || (t && t->opening))
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, rank);
  if (!t)
    return MPI_SUCCESS;
  rgi_win_opening as = assertion                 ? RGI_WIN_UNCHECKED
                       : type == MPI_LOCK_SHARED ? RGI_WIN_SHARED
                                                 : RGI_WIN_EXCLUSIVE;
  rgi_win_poll_served(RGI_WIN_ACCESS);
  int error = lock_target(window, rank, as, "MPI_Win_lock");
  if (error)
    return rgi_win_raise_own(window, error, __func__);
  atomic_fetch_add(&window->locked, 1);
  if (window->access == RGI_WIN_FENCE) {
    window->open_all = 0;
    window->access = RGI_WIN_NO_EPOCH;
  }
  return MPI_SUCCESS;
}

RG_API int MPI_Win_unlock(int rank, MPI_Win win) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return rgi_win_nodes_unlock(rank, win);
  rgi_win_target *t = target_at(window, rank);
  if (!t)
    return rank == MPI_PROC_NULL ? MPI_SUCCESS
                                 : rgi_win_raise(window, MPI_ERR_RANK, __func__, rank);
  if (rgi_win_epoch(window) != RGI_WIN_LOCK || !t->opening)
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, rank);
  order_memory();
  unlock_target(window, rank);
  atomic_fetch_sub(&window->locked, 1);
  return MPI_SUCCESS;
}

RG_API int MPI_Win_lock_all(int assertion, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_LOCK);
  int error = RG_SUCCESS;
  if (!window)
    return rgi_win_nodes_lock_all(assertion, win);
  if (assertion != 0 && assertion != MPI_MODE_NOCHECK)
    return rgi_win_raise(window, MPI_ERR_ARG, __func__, RGI_WIN_NO_TARGET);
  if (rgi_win_is_in_epoch(window))
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  rgi_win_poll_served(RGI_WIN_ACCESS);
  for (int i = 0; i < window->n && !error && !assertion; i++)
    error = lock_target(window, i, RGI_WIN_SHARED, "MPI_Win_lock_all");
  if (error) {
    for (int i = 0; i < window->n; i++)
      unlock_target(window, i);
    return rgi_win_raise_own(window, error, __func__);
  }
  window->access = RGI_WIN_LOCK_ALL;
  window->open_all = 1;
  return MPI_SUCCESS;
}

RG_API int MPI_Win_unlock_all(MPI_Win win) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return rgi_win_nodes_unlock_all(win);
  if (window->access != RGI_WIN_LOCK_ALL)
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  order_memory();
  for (int i = 0; i < window->n; i++)
    unlock_target(window, i);
  window->open_all = 0;
  window->access = RGI_WIN_NO_EPOCH;
  return MPI_SUCCESS;
}

/* --- flushes ------------------------------------------------------------------------------- */

static int flush_target(rgi_win *window, int rank, const char *call) {
  rgi_win_target *t = target_at(window, rank);
  if (!t)
    return rank == MPI_PROC_NULL ? MPI_SUCCESS : rgi_win_raise(window, MPI_ERR_RANK, call, rank);
  if (!rgi_win_is_locked(window) || (!window->open_all && !t->opening))
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, call, rank);
  rgi_win_poll_served(RGI_WIN_FLUSH);
  return MPI_SUCCESS;
}

static int flush_targets(rgi_win *window, const char *call) {
  if (!rgi_win_is_locked(window))
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, call, RGI_WIN_NO_TARGET);
  rgi_win_poll_served(RGI_WIN_FLUSH);
  return MPI_SUCCESS;
}

RG_API int MPI_Win_flush(int rank, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_FLUSH);
  if (!window)
    return rgi_win_nodes_flush(rank, win);
  rgi_win_order_accesses();
  return flush_target(window, rank, __func__);
}

RG_API int MPI_Win_flush_all(MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_FLUSH);
  if (!window)
    return rgi_win_nodes_flush_all(win);
  rgi_win_order_accesses();
  return flush_targets(window, __func__);
}

RG_API int MPI_Win_flush_local(int rank, MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_FLUSH);
  return window ? flush_target(window, rank, __func__) : rgi_win_nodes_flush_local(rank, win);
}

RG_API int MPI_Win_flush_local_all(MPI_Win win) {
  rgi_win *window = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_FLUSH);
  return window ? flush_targets(window, __func__) : rgi_win_nodes_flush_local_all(win);
}

RG_API int MPI_Win_sync(MPI_Win win) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_sync)(win);
  order_memory();
  rgi_win_poll(RGI_WIN_ACCESS);
  return MPI_SUCCESS;
}

/* --- fences -------------------------------------------------------------------------------- */

#define FENCE_ASSERTIONS                                                                           \
  (MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)

RG_API int MPI_Win_fence(int assertion, MPI_Win win) {
  rgi_win *w = rgi_win_of_call(win, RGI_INTERCEPT_WINDOW_FENCE);
  if (!w)
    return rgi_win_nodes_fence(assertion, win);
  if (assertion & ~FENCE_ASSERTIONS)
    return rgi_win_raise(w, MPI_ERR_ARG, __func__, RGI_WIN_NO_TARGET);
  if (rgi_win_is_in_epoch(w) || w->exposed)
    return rgi_win_raise(w, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  order_memory();
  rgi_win_poll_served(RGI_WIN_ACCESS);
  int error = rg_barrier(w->group);
  if (error)
    return rgi_win_raise_own(w, error, __func__);
  w->open_all = !(assertion & MPI_MODE_NOSUCCEED);
  w->access = w->open_all ? RGI_WIN_FENCE : RGI_WIN_NO_EPOCH;
  return MPI_SUCCESS;
}

/* --- post, start, complete, wait ----------------------------------------------------------- */

/* The ranks in the window of a group's members; to be freed. NULL: no memory. MPI_UNDEFINED for one
 * that is no member of the window. */
static int *ranks_of(const rgi_win *window, MPI_Group group, int *n) {
  PMPI_Group_size(group, n);
  int *theirs = malloc(2 * ((size_t)*n + 1) * sizeof *theirs), *ours = theirs + *n + 1;
  if (!theirs)
    return NULL;
  for (int i = 0; i < *n; i++)
    theirs[i] = i;
  PMPI_Group_translate_ranks(group, *n, theirs, window->members, ours);
  for (int i = 0; i < *n; i++)
    theirs[i] = ours[i];
  return theirs;
}

static int has_stranger(const int ranks[], int n) {
  for (int i = 0; i < n; i++)
    if (ranks[i] == MPI_UNDEFINED)
      return 1;
  return 0;
}

/* The class of the error, or MPI_SUCCESS: then the caller frees *ranks. */
static int find_ranks(const rgi_win *window, MPI_Group group, int **ranks, int *n) {
  if (group == MPI_GROUP_NULL)
    return MPI_ERR_GROUP;
  *ranks = ranks_of(window, group, n);
  if (!*ranks)
    return MPI_ERR_NO_MEM;
  if (!has_stranger(*ranks, *n))
    return MPI_SUCCESS;
  free(*ranks);
  return MPI_ERR_GROUP;
}

RG_API int MPI_Win_post(MPI_Group group, int assertion, MPI_Win win) {
  rgi_win *window = rgi_win_of(win);
  int *ranks, n;
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_post)(group, assertion, win);
  if (window->exposed)
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  int class = find_ranks(window, group, &ranks, &n);
  if (class != MPI_SUCCESS)
    return rgi_win_raise(window, class, __func__, RGI_WIN_NO_TARGET);
  order_memory();
  for (int i = 0; i < n; i++) {
    rgi_win_part *part = window->target[ranks[i]].part;
    atomic_fetch_add(&rgi_win_posted(part, window->n)[window->me], 1);
    rgi_bell_ring(&part->bell);
  }
  free(ranks);
  window->completions += (uint32_t)n;
  window->exposed = 1;
  return MPI_SUCCESS;
}

static int await_post(rgi_win *window, int rank) {
  rgi_win_part *mine = window->target[window->me].part;
  rgi_win_target *t = &window->target[rank];
  rgi_wait wait;
  start_wait(&wait, window, "MPI_Win_start", rank);
  for (;;) {
    uint32_t bell = atomic_load(&mine->bell.value);
    if (atomic_load(&rgi_win_posted(mine, window->n)[rank]) != t->started)
      break;
    RGI_TRY(rgi_wait_bell(&wait, &mine->bell, bell, 1));
  }
  t->started++;
  t->opening = RGI_WIN_STARTED;
  return RG_SUCCESS;
}

RG_API int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
  rgi_win *window = rgi_win_of(win);
  int *ranks, n, error = RG_SUCCESS;
  if (!window)
    return rgi_win_nodes_start(group, assertion, win);
  if (rgi_win_is_in_epoch(window))
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  int class = find_ranks(window, group, &ranks, &n);
  if (class != MPI_SUCCESS)
    return rgi_win_raise(window, class, __func__, RGI_WIN_NO_TARGET);
  rgi_win_poll_served(RGI_WIN_ACCESS);
  for (int i = 0; i < n && !error; i++)
    error = await_post(window, ranks[i]);
  free(ranks);
  window->open_all = 0;
  window->access = RGI_WIN_START;
  return rgi_win_raise_own(window, error, __func__);
}

RG_API int MPI_Win_complete(MPI_Win win) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return rgi_win_nodes_complete(win);
  if (window->access != RGI_WIN_START)
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  order_memory();
  for (int i = 0; i < window->n; i++)
    if (window->target[i].opening == RGI_WIN_STARTED) {
      window->target[i].opening = RGI_WIN_CLOSED;
      atomic_fetch_add(&window->target[i].part->completed, 1);
      rgi_bell_ring(&window->target[i].part->bell);
    }
  window->access = RGI_WIN_NO_EPOCH;
  return MPI_SUCCESS;
}

static int is_completed(const rgi_win *window) {
  return atomic_load(&window->target[window->me].part->completed) == window->completions;
}

RG_API int MPI_Win_wait(MPI_Win win) {
  rgi_win *window = rgi_win_of(win);
  rgi_wait wait;
  int error = RG_SUCCESS;
  if (!window)
    return RGI_WIN_WAITING(rgi_win_nodes_of(win), MPI_Win_wait, win);
  if (!window->exposed)
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  rgi_bell *bell = &window->target[window->me].part->bell;
  rgi_win_poll_served(RGI_WIN_ACCESS);
  start_wait(&wait, window, "MPI_Win_wait", -1);
  while (!error) {
    uint32_t old = atomic_load(&bell->value);
    if (is_completed(window))
      break;
    error = rgi_wait_bell(&wait, bell, old, 1);
  }
  window->exposed = 0;
  return rgi_win_raise_own(window, error, __func__);
}

RG_API int MPI_Win_test(MPI_Win win, int *flag) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return end_row(RGI_INTERCEPT_NEXT(PMPI_Win_test)(win, flag));
  if (!window->exposed)
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  rgi_win_poll(RGI_WIN_ACCESS);
  *flag = is_completed(window);
  window->exposed = !*flag;
  return MPI_SUCCESS;
}

RGI_INTERCEPT_BOTH(Win_lock);
RGI_INTERCEPT_BOTH(Win_unlock);
RGI_INTERCEPT_BOTH(Win_lock_all);
RGI_INTERCEPT_BOTH(Win_unlock_all);
RGI_INTERCEPT_BOTH(Win_flush);
RGI_INTERCEPT_BOTH(Win_flush_all);
RGI_INTERCEPT_BOTH(Win_flush_local);
RGI_INTERCEPT_BOTH(Win_flush_local_all);
RGI_INTERCEPT_BOTH(Win_sync);
RGI_INTERCEPT_BOTH(Win_fence);
RGI_INTERCEPT_BOTH(Win_post);
RGI_INTERCEPT_BOTH(Win_start);
RGI_INTERCEPT_BOTH(Win_complete);
RGI_INTERCEPT_BOTH(Win_wait);
RGI_INTERCEPT_BOTH(Win_test);

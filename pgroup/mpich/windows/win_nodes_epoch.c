/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Epochs of windows that span nodes. MPI opens and ends them; here it is kept which targets are
 * open to accesses. A flush goes on to MPI if an access has gone on to MPI since the last one. All
 * calls take windows that are MPI's alone, too. */
#include <stdlib.h>

#include "mpi/intercept.h"
#include "mpich/mpich.h"
#include "mpich/windows/win_nodes.h"

/* The caller's own accesses, and those of others that MPI has told of, come before what follows. */
static void order_memory(void) {
  atomic_thread_fence(memory_order_seq_cst);
}

/* MPI's call polls and does not wait (mpich/polite_calls.c). */
static int end_row(int code) {
  rgi_mpich_end_row();
  order_memory();
  return code;
}

/* --- what was passed on and is not complete ------------------------------------------------ */

static unsigned long long issued(rgi_win_nodes *nodes) {
  return nodes ? atomic_load(&nodes->all.issued) : 0;
}

static int is_member(const rgi_win_nodes *nodes, int rank) {
  return rank >= 0 && rank < nodes->window->n;
}

/* All up to this number are complete at the target. */
static int complete_at(rgi_win_nodes *nodes, int rank, unsigned long long number, int code) {
  if (nodes && code == MPI_SUCCESS && is_member(nodes, rank))
    rgi_win_nodes_raise(&nodes->at[rank].completed, number);
  return code;
}

static int complete_all(rgi_win_nodes *nodes, unsigned long long number, int code) {
  if (nodes && code == MPI_SUCCESS)
    rgi_win_nodes_raise(&nodes->all.completed, number);
  return code;
}

/* Not where MPI is to report an error. */
static int has_nothing_at(rgi_win_nodes *nodes, int rank) {
  if (!nodes || !is_member(nodes, rank) || !rgi_win_is_locked(nodes->window) ||
      (!nodes->window->open_all && !nodes->window->target[rank].opening))
    return 0;
  unsigned long long last = atomic_load(&nodes->at[rank].issued);
  return last <= atomic_load(&nodes->at[rank].completed) ||
         last <= atomic_load(&nodes->all.completed);
}

static int has_nothing(rgi_win_nodes *nodes) {
  return nodes && rgi_win_is_locked(nodes->window) &&
         issued(nodes) <= atomic_load(&nodes->all.completed);
}

/* nothing: MPI has nothing to flush, so the flush is served. */
static int count_flush(int nothing) {
  rgi_win_count(RGI_INTERCEPT_WINDOW_FLUSH, nothing);
  return nothing;
}

/* A flush with nothing to wait for. */
static int flush_nothing(void) {
  rgi_win_order_accesses();
  rgi_win_poll_served(RGI_WIN_FLUSH);
  return MPI_SUCCESS;
}

/* --- locks and flushes --------------------------------------------------------------------- */

static void close_fence(rgi_win *window) {
  if (window->access == RGI_WIN_FENCE) {
    window->open_all = 0;
    window->access = RGI_WIN_NO_EPOCH;
  }
}

int rgi_win_nodes_lock(int type, int rank, int assertion, MPI_Win win) {
  rgi_win_nodes *nodes = rgi_win_nodes_of(win);
  rgi_win_count(RGI_INTERCEPT_WINDOW_LOCK, 0);
  int code = RGI_WIN_WAITING(nodes, MPI_Win_lock, type, rank, assertion, win);
  if (nodes && code == MPI_SUCCESS && is_member(nodes, rank)) {
    nodes->window->target[rank].opening = RGI_WIN_UNCHECKED; /* by MPI */
    atomic_fetch_add(&nodes->window->locked, 1);
    close_fence(nodes->window);
  }
  order_memory();
  return code;
}

int rgi_win_nodes_unlock(int rank, MPI_Win win) {
  rgi_win_nodes *nodes = rgi_win_nodes_of(win);
  unsigned long long number = issued(nodes);
  order_memory();
  int code = end_row(RGI_WIN_WAITING(nodes, MPI_Win_unlock, rank, win));
  if (nodes && code == MPI_SUCCESS && is_member(nodes, rank)) {
    nodes->window->target[rank].opening = RGI_WIN_CLOSED;
    atomic_fetch_sub(&nodes->window->locked, 1);
  }
  return complete_at(nodes, rank, number, code);
}

/* Opens all targets, or closes them. */
static int set_all(rgi_win_nodes *nodes, rgi_win_access_epoch epoch, int code) {
  if (nodes && code == MPI_SUCCESS) {
    nodes->window->access = epoch;
    nodes->window->open_all = epoch == RGI_WIN_LOCK_ALL || epoch == RGI_WIN_FENCE;
  }
  return code;
}

int rgi_win_nodes_lock_all(int assertion, MPI_Win win) {
  rgi_win_count(RGI_INTERCEPT_WINDOW_LOCK, 0);
  int code = RGI_WIN_WAITING(rgi_win_nodes_of(win), MPI_Win_lock_all, assertion, win);
  order_memory();
  return set_all(rgi_win_nodes_of(win), RGI_WIN_LOCK_ALL, code);
}

int rgi_win_nodes_unlock_all(MPI_Win win) {
  rgi_win_nodes *nodes = rgi_win_nodes_of(win);
  unsigned long long number = issued(nodes);
  order_memory();
  int code = end_row(RGI_WIN_WAITING(nodes, MPI_Win_unlock_all, win));
  return complete_all(nodes, number, set_all(nodes, RGI_WIN_NO_EPOCH, code));
}

int rgi_win_nodes_flush(int rank, MPI_Win win) {
  rgi_win_nodes *nodes = rgi_win_nodes_of(win);
  unsigned long long number = issued(nodes);
  if (count_flush(has_nothing_at(nodes, rank)))
    return flush_nothing();
  order_memory();
  return complete_at(nodes, rank, number,
                     end_row(RGI_WIN_WAITING(nodes, MPI_Win_flush, rank, win)));
}

int rgi_win_nodes_flush_all(MPI_Win win) {
  rgi_win_nodes *nodes = rgi_win_nodes_of(win);
  unsigned long long number = issued(nodes);
  if (count_flush(has_nothing(nodes)))
    return flush_nothing();
  order_memory();
  return complete_all(nodes, number, end_row(RGI_WIN_WAITING(nodes, MPI_Win_flush_all, win)));
}

int rgi_win_nodes_flush_local(int rank, MPI_Win win) {
  return count_flush(has_nothing_at(rgi_win_nodes_of(win), rank))
             ? flush_nothing()
             : end_row(RGI_WIN_WAITING(rgi_win_nodes_of(win), MPI_Win_flush_local, rank, win));
}

int rgi_win_nodes_flush_local_all(MPI_Win win) {
  return count_flush(has_nothing(rgi_win_nodes_of(win)))
             ? flush_nothing()
             : end_row(RGI_WIN_WAITING(rgi_win_nodes_of(win), MPI_Win_flush_local_all, win));
}

/* --- fence, start, complete ---------------------------------------------------------------- */

int rgi_win_nodes_fence(int assertion, MPI_Win win) {
  rgi_win_nodes *nodes = rgi_win_nodes_of(win);
  unsigned long long number = issued(nodes);
  rgi_win_count(RGI_INTERCEPT_WINDOW_FENCE, 0);
  order_memory();
  int code = end_row(RGI_WIN_WAITING(nodes, MPI_Win_fence, assertion, win));
  rgi_win_access_epoch epoch = assertion & MPI_MODE_NOSUCCEED ? RGI_WIN_NO_EPOCH : RGI_WIN_FENCE;
  return complete_all(nodes, number, set_all(nodes, epoch, code));
}

/* The ranks of the group's members in the window get this opening. */
static void open_group(rgi_win_nodes *nodes, MPI_Group group, MPI_Win win) {
  MPI_Group members;
  int n = 0, rank, in_window;
  PMPI_Group_size(group, &n);
  if (PMPI_Win_get_group(win, &members) != MPI_SUCCESS)
    return; /* all accesses are passed on */
  for (rank = 0; rank < n; rank++)
    if (PMPI_Group_translate_ranks(group, 1, &rank, members, &in_window) == MPI_SUCCESS &&
        is_member(nodes, in_window))
      nodes->window->target[in_window].opening = RGI_WIN_STARTED;
  PMPI_Group_free(&members);
}

int rgi_win_nodes_start(MPI_Group group, int assertion, MPI_Win win) {
  rgi_win_nodes *nodes = rgi_win_nodes_of(win);
  int code = RGI_WIN_WAITING(nodes, MPI_Win_start, group, assertion, win);
  order_memory();
  if (nodes && code == MPI_SUCCESS) {
    set_all(nodes, RGI_WIN_START, code);
    open_group(nodes, group, win);
  }
  return code;
}

int rgi_win_nodes_complete(MPI_Win win) {
  rgi_win_nodes *nodes = rgi_win_nodes_of(win);
  unsigned long long number = issued(nodes);
  order_memory();
  int code = RGI_WIN_WAITING(nodes, MPI_Win_complete, win);
  for (int i = 0; nodes && code == MPI_SUCCESS && i < nodes->window->n; i++)
    nodes->window->target[i].opening = RGI_WIN_CLOSED;
  return complete_all(nodes, number, set_all(nodes, RGI_WIN_NO_EPOCH, code));
}

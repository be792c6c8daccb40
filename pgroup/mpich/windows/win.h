/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Windows that the library serves: MPI's one-sided communication inside a node by loads and stores.
 *
 * A window is served if all its members are on one node and its memory lies in the node's arena;
 * all members decide that alike, when it is made. Its handle is a number that MPI uses for no
 * window, so a call on a window is served or passed on by the handle alone. Calls with another
 * handle go on to MPI, but for some on windows that span nodes (win_nodes.h).
 *
 * With an MPI whose handles are otherwise (mpich.h) all windows are passed on. This room is built
 * with MPICH alone: Open MPI's bindings look into handles. */
#ifndef RGI_WIN_H
#define RGI_WIN_H

#include <limits.h>
#include <mpi.h>
#include <regroup/group.h>
#include <stdatomic.h>
#include <stdint.h>

#include "access/lock.h"
#include "access/shared_lock.h"
#include "mpi/intercept.h"

/* The linker's fastest kind of thread-local memory: a call is a matter of nanoseconds. */
#define RGI_WIN_THREAD _Thread_local __attribute__((tls_model("initial-exec")))

/* What a member shares with the others, in the arena. All accumulates at this member are made under
 * `accumulating`, so that they are atomic with one another. */
typedef struct {
  rgi_lock accumulating;
  rgi_shared_lock lock;       /* MPI_Win_lock */
  rgi_bell bell;              /* rung with each change of what follows */
  _Atomic uint32_t completed; /* MPI_Win_complete calls that concern this member */
  uint32_t bytes;             /* of this structure */
  int64_t size, disp_unit;    /* of its memory */
  uint64_t memory;            /* where it is; 0: none */
  char pad[RGI_LINE - sizeof(rgi_bell) - 2 * sizeof(uint32_t) - 3 * sizeof(uint64_t)];
  rgi_shared_lock_claim claims[]; /* each member's on the lock; behind them rgi_win_posted */
} rgi_win_part;

/* By each of the n members: MPI_Win_post calls that concern this one. */
static inline _Atomic uint32_t *rgi_win_posted(rgi_win_part *part, int n) {
  return (_Atomic uint32_t *)(part->claims + n);
}

/* How this process has opened a target to its accesses. */
typedef enum {
  RGI_WIN_CLOSED,
  RGI_WIN_SHARED,    /* by MPI_Win_lock or MPI_Win_lock_all */
  RGI_WIN_EXCLUSIVE, /* by MPI_Win_lock */
  RGI_WIN_UNCHECKED, /* by either with MPI_MODE_NOCHECK: nothing is locked */
  RGI_WIN_STARTED    /* by MPI_Win_start */
} rgi_win_opening;

typedef struct {
  char *base;
  int64_t size, disp_unit;
  rgi_win_part *part;
  rgi_win_opening opening;
  uint32_t started; /* how many of its posts MPI_Win_start has used up */
} rgi_win_target;

/* The caller's epochs. That of MPI_Win_lock follows from the number of locked targets: threads may
 * lock and unlock different ones at the same time. */
typedef enum {
  RGI_WIN_NO_EPOCH,
  RGI_WIN_FENCE,
  RGI_WIN_LOCK, /* of rgi_win_epoch only */
  RGI_WIN_LOCK_ALL,
  RGI_WIN_START
} rgi_win_access_epoch;

/* The first four members are all that a flush needs: they lie in one cache line. */
typedef struct rgi_win {
  int n; /* members */
  rgi_win_access_epoch access;
  int open_all;      /* all targets may be accessed */
  atomic_int locked; /* targets that are locked by MPI_Win_lock */
  MPI_Win handle;
  int me, flavor, model;
  rg_group group; /* of the members, for barriers */
  MPI_Group members;
  /* Attributes, which the application gets by their address. */
  void *base;
  MPI_Aint size;
  int disp_unit;
  void *memory; /* to be freed with the window, or NULL */
  /* Epochs. */
  int exposed;          /* between MPI_Win_post and MPI_Win_wait */
  uint32_t completions; /* that end the exposure */
  /* What MPI keeps for us: user's attributes and error handlers (win_stand_in.c). */
  MPI_Win stand_in;
  MPI_Errhandler handler; /* MPI_ERRHANDLER_NULL: stand_in's, which is the window itself */
  MPI_Win_errhandler_function *function; /* the application's, or NULL */
  MPI_Info info;
  char name[MPI_MAX_OBJECT_NAME];
  rgi_win_target target[];
} rgi_win;

static inline rgi_win_access_epoch rgi_win_epoch(const rgi_win *window) {
  return atomic_load_explicit(&window->locked, memory_order_relaxed) ? RGI_WIN_LOCK
                                                                     : window->access;
}

static inline int rgi_win_is_locked(const rgi_win *window) {
  rgi_win_access_epoch epoch = rgi_win_epoch(window);
  return epoch == RGI_WIN_LOCK || epoch == RGI_WIN_LOCK_ALL;
}

/* That of a fence ends by any other call. */
static inline int rgi_win_is_in_epoch(const rgi_win *window) {
  rgi_win_access_epoch epoch = rgi_win_epoch(window);
  return epoch != RGI_WIN_NO_EPOCH && epoch != RGI_WIN_FENCE;
}

/* --- handles (win_table.c) ---------------------------------------------------------------- */

extern _Atomic(rgi_win *) rgi_win_at[RGI_MPICH_WINDOW_HANDLES];

/* The window of a handle, or NULL: the call is passed on. */
static inline rgi_win *rgi_win_of(MPI_Win handle) {
  uint32_t bits = (uint32_t)handle, i = bits - RGI_MPICH_WINDOW_HANDLE;
  return i < RGI_MPICH_WINDOW_HANDLES ? atomic_load_explicit(&rgi_win_at[i], memory_order_acquire)
                                      : NULL;
}

static inline void rgi_win_count(rgi_intercept_window_call call, int served) {
  if (rgi_intercept_counting & RGI_INTERCEPT_REPORTS)
    rgi_intercept_count_window(call, served);
}

/* As rgi_win_of for a call that is counted. One that may be passed on is counted where that is
 * decided: with windows that span nodes (win_nodes.h). */
static inline rgi_win *rgi_win_of_call(MPI_Win handle, rgi_intercept_window_call call) {
  rgi_win *window = rgi_win_of(handle);
  if (window)
    rgi_win_count(call, 1);
  return window;
}

/* Gives the window a handle. 0: no memory. */
int rgi_win_table_add(rgi_win *window);
void rgi_win_table_remove(rgi_win *window);

/* --- memory (win_memory.c) -------------------------------------------------------------------- */

/* Before the process uses such memory, also another one's. */
void rgi_win_memory_open(void);

/* alignment: 0, or what the program wants. */
typedef struct {
  const char *call;
  int64_t bytes;
  size_t alignment;
  int zeroed;
} rgi_win_memory_wish;

/* What an info says of it. */
size_t rgi_win_memory_alignment(MPI_Info info);

/* Memory of the arena; NULL: it has not so much left. MPI_ERR_NO_MEM: nor has the node, besides
 * what it has promised. */
int rgi_win_memory_alloc(const rgi_win_memory_wish *wish, void **memory);
void rgi_win_memory_free(void *memory);

/* Whether the memory is in the arena. */
int rgi_win_memory_holds(const void *memory, int64_t bytes);

/* --- errors and what MPI keeps (win_stand_in.c) -------------------------------------------- */

/* Raises an error class of MPI's through the window's error handler; returns its code. call, rank,
 * and the access (win_access.h): what the program called, for the text of a fatal error. */
int rgi_win_raise(rgi_win *window, int class, const char *call, int rank);

#define RGI_WIN_NO_TARGET INT_MIN

/* As rgi_win_raise for an error of the library's; MPI_SUCCESS for RG_SUCCESS. */
int rgi_win_raise_own(rgi_win *window, int error, const char *call);

/* A window of MPI's that keeps what the application attaches to window: made when it is first
 * needed. MPI_WIN_NULL: there is none. */
MPI_Win rgi_win_stand_in(rgi_win *window);

/* Frees it, so that MPI calls what the application has attached to it. Its code: then the window
 * stays as it is. */
int rgi_win_stand_in_free(rgi_win *window);

/* Gives up the reference to its error handler. */
void rgi_win_drop_handler(rgi_win *window);

/* --- attributes (win_attr.c, win_keyval.c) ------------------------------------------------- */

/* The window for whose stand-in this thread calls MPI, which may call the application's functions.
 */
extern RGI_WIN_THREAD rgi_win *rgi_win_handing;

/* --- order (win_access.c) --------------------------------------------------------------------- */

/* This thread has put since its last full fence for a flush. */
extern RGI_WIN_THREAD char rgi_win_has_put;

/* In a flush: the accesses before it come before what follows. A processor delays stores behind
 * later loads, so puts need a full fence; gets do not, and accumulates end with one. The program's
 * own stores are not delayed behind later stores. */
static inline void rgi_win_order_accesses(void) {
  atomic_thread_fence(memory_order_acq_rel);
  if (rgi_win_has_put) {
    atomic_thread_fence(memory_order_seq_cst);
    rgi_win_has_put = 0;
  }
}

/* --- polling (win_poll.c) -------------------------------------------------------------------- */

/* Lets MPI and the other processes go on. */
void rgi_win_go_on(void);

/* What this thread may still do before it lets them go on: a flush is a part of an access, in time
 * too. The first call of a thread lets them go on at once. */
extern RGI_WIN_THREAD int rgi_win_left;
#define RGI_WIN_ACCESS 16
#define RGI_WIN_FLUSH 1

/* In calls that may be repeated until another process has done something: some of them let MPI and
 * the other processes go on. */
static inline void rgi_win_poll(int weight) {
  rgi_win_left -= weight;
  if (rgi_win_left < 0)
    rgi_win_go_on();
}

/* As rgi_win_poll in a call that gets done what it was called for. */
static inline void rgi_win_poll_served(int weight) {
  rgi_mpich_served++;
  rgi_win_poll(weight);
}

#endif

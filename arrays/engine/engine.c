/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Start and stop of the engine with the library, and the caller's own heap part. */
#include "engine/engine.h"

#include <armci.h>
#include <armcix.h>
#include <pthread.h>
#include <regroup/polite.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/options.h"
#include "engine/armci_window.h"
#include "engine/daemon_transport.h"
#include "engine/heap_part.h"
#include "engine/rma.h"
#include "noded/overlay.h"
#include "progress/mpi_error.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "shm/node.h"

/* Memory of a heap part is reserved in steps of this. */
#define STEP ((uint64_t)1 << 20)
#define MOST ((int64_t)1 << 30)
#define SERVED_MOST ((int64_t)1 << 20) /* a server keeps as much for each process */

rgi_rma_state rgi_rma = {.window = MPI_WIN_NULL};

static struct {
  pthread_mutex_t lock;
  rgi_heap_part part;
  uint64_t reserved; /* so much of it has memory */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the caller's heap part --------------------------------------------------------- */

static uint64_t start_of(int place) {
  return (uint64_t)place * rgi_rma.size;
}

static int reserve_memory(const char *what, uint64_t end) {
  if (end <= own.reserved)
    return RG_SUCCESS;
  uint64_t to = (end + STEP - 1) / STEP * STEP;
  RGI_TRY(rgi_arena_heap_commit(what, start_of(rgi_node.me) + own.reserved, to - own.reserved));
  own.reserved = to;
  return RG_SUCCESS;
}

static int take_range(const char *what, uint64_t bytes, uint64_t *offset) {
  uint64_t at;
  if (!rgi_heap_part_take(&own.part, bytes, &at))
    return rgi_error(RG_ERR_NOMEM,
                     "%s: %llu bytes do not fit into this process's share of %llu MiB (%llu MiB "
                     "are free, %llu in one piece): set RG_ARRAY_SHARE higher, or free arrays",
                     what, (unsigned long long)bytes, (unsigned long long)own.part.size >> 20,
                     (unsigned long long)own.part.left >> 20,
                     (unsigned long long)rgi_heap_part_longest(&own.part) >> 20);
  int error = reserve_memory(what, at + bytes);
  if (error) {
    rgi_heap_part_give(&own.part, at, bytes);
    return error;
  }
  *offset = at;
  return RG_SUCCESS;
}

int rgi_heap_take(const char *what, size_t bytes, uint64_t *offset) {
  uint64_t size = bytes > INT64_MAX ? UINT64_MAX : rgi_heap_part_round(bytes);
  pthread_mutex_lock(&own.lock);
  int error = take_range(what, size, offset);
  pthread_mutex_unlock(&own.lock);
  return error;
}

void rgi_heap_give(uint64_t offset, size_t bytes) {
  pthread_mutex_lock(&own.lock);
  if (own.part.free) /* else the library has stopped: all of it is gone */
    rgi_heap_part_give(&own.part, offset, rgi_heap_part_round(bytes));
  pthread_mutex_unlock(&own.lock);
}

void *rgi_heap_at(int world_rank, uint64_t offset) {
  int place = rgi_rma.open ? rgi_node_find(world_rank) : -1;
  return place < 0 ? NULL : rgi_rma.node_heap + start_of(place) + offset;
}

int rgi_heap_is_open(void) {
  return rgi_rma.open;
}

void rgi_engine_progress(void) {
  if (!rgi_rma.open)
    return;
  if (rgi_daemon_transport_is_used()) {
    rgi_daemon_transport_progress();
    return;
  }
  rg_polite_polling(1); /* a look, not a wait: no pause inside MPI */
  ARMCIX_Progress();
  rg_polite_polling(0);
}

/* --- start ----------------------------------------------------------------------- */

static size_t part_size(void) {
  return rgi_node.count > 1 ? (size_t)rgi_options_value(RGI_OPT_ARRAY_SHARE) << 20 : 0;
}

/* All processes return an error if one has one. */
static int agree_on_error(int error) {
  int worst = error;
  RGI_TRY_MPI(MPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, rgi_runtime.comm));
  if (worst && !error)
    return rgi_error(worst, "rg_init: another process could not start ARMCI: %s",
                     rg_error_string(worst));
  return error;
}

static int agree_on_size(void) {
  long long size = (long long)part_size(), mine[2] = {size, -size}, all[2];
  RGI_TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_MAX, rgi_runtime.comm));
  if (all[0] == -all[1])
    return RG_SUCCESS;
  return rgi_error(RG_ERR_OPTION,
                   "RG_ARRAY_SHARE is not the same on all processes: %lld to %lld "
                   "MiB",
                   -all[1] >> 20, all[0] >> 20);
}

/* What ARMCI needs to be right and fast here; the user's own settings stay. The
 * atomicity that is turned off is that of puts and gets, not of accumulates. */
static void set_armci(void) {
  setenv("ARMCI_RMA_ATOMICITY", "0", 0);
  setenv("ARMCI_STRIDED_METHOD", "DIRECT", 0);
  setenv("ARMCI_IOV_METHOD", "DIRECT", 0);
  setenv("ARMCI_NONCOLLECTIVE_GROUPS", "1", 0);
}

/* Where the program has started ARMCI before us it must be over the same
 * processes. */
static int look_at_armci(void) {
  ARMCI_Group world = {.rank = 0};
  int same = MPI_CONGRUENT;
  if (ARMCI_Initialized()) {
    ARMCI_Group_get_world(&world);
    MPI_Comm_compare(world.comm, rgi_runtime.comm, &same);
  }
  if (same == MPI_IDENT || same == MPI_CONGRUENT)
    return RG_SUCCESS;
  return rgi_error(RG_ERR_UNSUPPORTED, "rg_init: the program has started ARMCI over other "
                                       "processes than those of rg_init");
}

static int check_window(char *mine) {
  void *base = NULL;
  int found = 0;
  if (rgi_rma.window == MPI_WIN_NULL)
    return rgi_error(RG_ERR_UNSUPPORTED,
                     "rg_init: ARMCI has not taken the memory of the arrays: unset "
                     "ARMCI_USE_WIN_ALLOCATE");
  MPI_Win_get_attr(rgi_rma.window, MPI_WIN_BASE, &base, &found);
  if (!found || base != mine)
    return rgi_error(RG_ERR_UNSUPPORTED, "rg_init: MPI has misplaced the memory of the arrays");
  return RG_SUCCESS;
}

static void free_memory(void) {
  free(rgi_rma.bases);
  rgi_rma.bases = NULL;
  rgi_rma_order_close();
  rgi_heap_part_close(&own.part);
}

static int take_memory(void) {
  rgi_rma.size = part_size();
  rgi_rma.most = MOST;
  rgi_rma.node_heap = rgi_arena_heap();
  own.reserved = 0;
  rgi_rma.bases = calloc((size_t)rgi_runtime.size, sizeof *rgi_rma.bases);
  if (!rgi_rma.bases)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for %d addresses", rgi_runtime.size);
  RGI_TRY(rgi_rma_order_open(rgi_runtime.size));
  return rgi_heap_part_open(&own.part, rgi_rma.size);
}

static void stop_armci(void) {
  ARMCI_Free(rgi_rma.bases[rgi_runtime.rank]);
  ARMCI_Finalize();
  rgi_rma.window = MPI_WIN_NULL;
}

static int start_armci(void) {
  int level = MPI_THREAD_SINGLE;
  char *mine = rgi_rma.node_heap + start_of(rgi_node.me);
  set_armci();
  MPI_Query_thread(&level);
  ARMCI_Init_thread_comm(level, rgi_runtime.comm);
  rgi_armci_window_offer(mine, rgi_rma.size);
  ARMCI_Malloc(rgi_rma.bases, (armci_size_t)rgi_rma.size);
  rgi_rma.window = rgi_armci_window_taken();
  int error = agree_on_error(check_window(mine));
  if (error)
    stop_armci();
  return error;
}

/* With our memory there. */
static int start_moving(void) {
  if (!rgi_overlay_exists())
    return start_armci();
  rgi_rma.most = SERVED_MOST;
  return agree_on_error(rgi_daemon_transport_open());
}

static int open_engine(void) {
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  RGI_TRY(agree_on_size());
  int error = rgi_overlay_exists() ? RG_SUCCESS : agree_on_error(look_at_armci());
  if (error)
    return error;
  error = agree_on_error(take_memory());
  if (!error)
    error = start_moving();
  if (error) {
    free_memory();
    return error;
  }
  rgi_rma.open = 1;
  if (!rgi_daemon_transport_is_used())
    rgi_rma_thread_start();
  return RG_SUCCESS;
}

static void close_engine(int mpi) {
  if (!rgi_rma.open)
    return;
  rgi_rma_thread_stop();
  rgi_rma.open = 0;
  rgi_engine_end_given_up(mpi);
  if (mpi && !rgi_daemon_transport_is_used())
    stop_armci();
  rgi_daemon_transport_close();
  free_memory();
}

__attribute__((constructor)) static void register_engine(void) {
  static rgi_module engine = {.name = "arrays",
                              .stage = RGI_MODULE_TRANSPORT,
                              .heap = part_size,
                              .open = open_engine,
                              .close = close_engine};
  rgi_module_register(&engine);
}

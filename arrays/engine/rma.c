/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Start and stop of ARMCI: one allocation of ARMCI's, whose memory is the heap part, gives the
 * window over all of them. Where the program has started ARMCI itself it must be over the
 * processes of rg_init. */
#include "engine/rma.h"

#include <armci.h>
#include <armcix.h>
#include <regroup/polite.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "engine/armci_window.h"
#include "engine/heap.h"
#include "runtime/runtime.h"

rgi_rma_state rgi_rma = {.window = MPI_WIN_NULL};

static int check_world(void) {
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

static int open_tables(void) {
  RGI_TRY(check_world());
  rgi_rma.bases = calloc((size_t)rgi_runtime.size, sizeof *rgi_rma.bases);
  if (!rgi_rma.bases)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for %d addresses", rgi_runtime.size);
  return rgi_rma_order_open(rgi_runtime.size);
}

static void close_tables(void) {
  free(rgi_rma.bases);
  rgi_rma.bases = NULL;
  rgi_rma_order_close();
}

/* What ARMCI needs to be right and fast here; the user's own settings stay. The
 * atomicity that is turned off is that of puts and gets, not of accumulates. */
static void set_armci(void) {
  setenv("ARMCI_RMA_ATOMICITY", "0", 0);
  setenv("ARMCI_STRIDED_METHOD", "DIRECT", 0);
  setenv("ARMCI_IOV_METHOD", "DIRECT", 0);
  setenv("ARMCI_NONCOLLECTIVE_GROUPS", "1", 0);
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

static int start_armci(void) {
  int level = MPI_THREAD_SINGLE;
  char *mine = rgi_heap_own();
  set_armci();
  MPI_Query_thread(&level);
  ARMCI_Init_thread_comm(level, rgi_runtime.comm);
  rgi_armci_window_offer(mine, rgi_heap.size);
  ARMCI_Malloc(rgi_rma.bases, (armci_size_t)rgi_heap.size);
  rgi_rma.window = rgi_armci_window_taken();
  rgi_rma.one_by_one = strcmp(getenv("ARMCI_IOV_METHOD"), "DIRECT") != 0;
  rgi_rma.may_block = rgi_options_value(RGI_OPT_TIMEOUT) == 0;
  RGI_TRY(check_window(mine));
  RGI_TRY(rgi_rma_gate_open());
  rgi_rma_thread_start();
  return RG_SUCCESS;
}

static void stop_armci(int mpi) {
  rgi_rma_thread_stop();
  rgi_rma_end_dropped(mpi);
  if (!mpi)
    return;
  rgi_rma_gate_close();
  ARMCI_Free(rgi_rma.bases[rgi_runtime.rank]);
  ARMCI_Finalize();
  rgi_rma.window = MPI_WIN_NULL;
}

/* A look, not a wait: no pause inside MPI. */
static void move_others_on(void) {
  rg_polite_polling(1);
  ARMCIX_Progress();
  rg_polite_polling(0);
}

/* Where it matters the whole job ends with a process. */
static int lost_nothing(int target) {
  (void)target;
  return 0;
}

const rgi_transport rgi_rma_transport = {.most = (int64_t)1 << 30,
                                         .open = open_tables,
                                         .start = start_armci,
                                         .stop = stop_armci,
                                         .close = close_tables,
                                         .begin = rgi_rma_begin,
                                         .test = rgi_rma_test,
                                         .wait = rgi_rma_wait,
                                         .drop = rgi_rma_drop,
                                         .elements = rgi_rma_elements,
                                         .word = rgi_rma_word,
                                         .settle = rgi_rma_settle,
                                         .fence = rgi_rma_fence,
                                         .finish = rgi_rma_finish,
                                         .lost = lost_nothing,
                                         .progress = move_others_on};

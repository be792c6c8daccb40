/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Start and stop of ARMCI: one allocation of ARMCI's, whose memory is the heap part, gives the
 * window over all of them. */
#include "engine/rma.h"

#include <armci.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/armci_window.h"
#include "engine/heap.h"
#include "runtime/runtime.h"

rgi_rma_state rgi_rma = {.window = MPI_WIN_NULL};

int rgi_rma_check_world(void) {
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

int rgi_rma_open(void) {
  rgi_rma.bases = calloc((size_t)rgi_runtime.size, sizeof *rgi_rma.bases);
  if (!rgi_rma.bases)
    return rgi_error(RG_ERR_NOMEM, "rg_init: no memory for %d addresses", rgi_runtime.size);
  return rgi_rma_order_open(rgi_runtime.size);
}

void rgi_rma_close(void) {
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

int rgi_rma_start(void) {
  int level = MPI_THREAD_SINGLE;
  char *mine = rgi_heap_own();
  set_armci();
  MPI_Query_thread(&level);
  ARMCI_Init_thread_comm(level, rgi_runtime.comm);
  rgi_armci_window_offer(mine, rgi_heap.size);
  ARMCI_Malloc(rgi_rma.bases, (armci_size_t)rgi_heap.size);
  rgi_rma.window = rgi_armci_window_taken();
  return check_window(mine);
}

void rgi_rma_stop(void) {
  ARMCI_Free(rgi_rma.bases[rgi_runtime.rank]);
  ARMCI_Finalize();
  rgi_rma.window = MPI_WIN_NULL;
}

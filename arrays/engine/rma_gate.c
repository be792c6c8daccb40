/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A gate for each process: a word that counts the operations that others have under way there. A
 * process that finds it full takes its own count back and tries again later. Only jobs of more
 * processes than operations that MPI bears have gates: an operation costs two messages more, and
 * their answers. A process has one operation on a gate at a time, of 8 contiguous bytes; MPI bears
 * these. */
#include "base/clock.h"
#include "base/error.h"
#include "engine/rma.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

#define SHORTEST_SECONDS 10e-6
#define LONGEST_SECONDS 2e-3

static struct {
  MPI_Win window;
  _Alignas(64) int64_t word; /* of this process; aligned as MPICH 4.0 needs it */
} gate = {MPI_WIN_NULL, 0};

int rgi_rma_gate_open(void) {
  if (rgi_runtime.size <= rgi_rma_bearable)
    return RG_SUCCESS;
  gate.word = 0;
  RGI_TRY_MPI(MPI_Win_create(&gate.word, sizeof gate.word, sizeof gate.word, MPI_INFO_NULL,
                             rgi_runtime.comm, &gate.window));
  RGI_TRY_MPI(MPI_Win_set_errhandler(gate.window, MPI_ERRORS_RETURN));
  RGI_TRY_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, gate.window));
  return RG_SUCCESS;
}

void rgi_rma_gate_close(void) {
  if (gate.window == MPI_WIN_NULL)
    return;
  MPI_Win_unlock_all(gate.window);
  MPI_Win_free(&gate.window);
}

static int add_count(int target, int64_t add, int64_t *before) {
  RGI_TRY_MPI(MPI_Fetch_and_op(&add, before, MPI_INT64_T, target, 0, MPI_SUM, gate.window));
  RGI_TRY_MPI(MPI_Win_flush(target, gate.window));
  return RG_SUCCESS;
}

int rgi_rma_gate_enter(int target, int most) {
  double nap = SHORTEST_SECONDS;
  for (int64_t before;;) {
    RGI_TRY(add_count(target, 1, &before));
    if (before < most)
      return RG_SUCCESS;
    RGI_TRY(add_count(target, -1, &before));
    rgi_clock_sleep(nap);
    nap = nap * 1.5 < LONGEST_SECONDS ? nap * 1.5 : LONGEST_SECONDS;
  }
}

int rgi_rma_gate_leave(int target) {
  int64_t before;
  return add_count(target, -1, &before);
}

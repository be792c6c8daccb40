/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The offer and the first error belong to one thread: ARMCI calls MPI_Win_allocate, and MPI the
 * window's error handler, in the thread that called them. Other allocations, of the program or of
 * ARMCI, go to MPI unchanged. */
#include "engine/armci_window.h"

#include <stdio.h>

#include "base/error.h"
#include "progress/mpi_error.h"

static _Thread_local struct {
  void *memory; /* offered */
  size_t bytes;
  MPI_Win window;
  int failed; /* MPI's code of the first failure */
} mine = {.window = MPI_WIN_NULL};

void rgi_armci_window_offer(void *memory, size_t bytes) {
  mine.memory = memory;
  mine.bytes = bytes;
  mine.window = MPI_WIN_NULL;
}

MPI_Win rgi_armci_window_taken(void) {
  mine.memory = NULL;
  return mine.window;
}

static void keep_error(MPI_Win *window, int *code, ...) {
  (void)window;
  if (mine.failed == MPI_SUCCESS)
    mine.failed = *code;
}

int rgi_armci_window_error(const char *call) {
  int code = mine.failed;
  mine.failed = MPI_SUCCESS;
  return rgi_mpi_error(code, call);
}

static int keep_errors(MPI_Win window) {
  MPI_Errhandler handler;
  int code = MPI_Win_create_errhandler(keep_error, &handler);
  if (code == MPI_SUCCESS) {
    code = MPI_Win_set_errhandler(window, handler);
    MPI_Errhandler_free(&handler);
  }
  return code;
}

static int is_offered(MPI_Aint size) {
  return mine.memory && size == (MPI_Aint)mine.bytes;
}

/* Visible, too: libregroup-mpi.so, preloaded, asks it whether a window is this one. */
__attribute__((visibility("default"))) int rgi_armci_window_is_offered(MPI_Aint size) {
  return is_offered(size);
}

/* Visible, so that the shared library, too, stands in front of MPI. */
__attribute__((visibility("default"))) int MPI_Win_allocate(MPI_Aint size, int disp_unit,
                                                            MPI_Info info, MPI_Comm comm,
                                                            void *baseptr, MPI_Win *win) {
  if (!is_offered(size))
    return PMPI_Win_allocate(size, disp_unit, info, comm, baseptr, win);
  int code = MPI_Win_create(mine.memory, size, disp_unit, info, comm, win);
  if (code == MPI_SUCCESS)
    code = keep_errors(*win);
  if (code != MPI_SUCCESS)
    return code;
  *(void **)baseptr = mine.memory;
  mine.window = *win;
  mine.memory = NULL;
  return MPI_SUCCESS;
}

/* What ARMCI calls and writes to in the shared library (SConstruct, shared_armci): of
 * MPI_Win_allocate another library's may come first. */
extern __typeof__(MPI_Win_allocate) rgi_armci_window_allocate
    __attribute__((alias("MPI_Win_allocate"), visibility("hidden")));
extern FILE *rgi_armci_window_stderr;
__attribute__((visibility("hidden"))) FILE *rgi_armci_window_stderr;

__attribute__((constructor)) static void find_stderr(void) {
  rgi_armci_window_stderr = stderr;
}

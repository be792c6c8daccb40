/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What each version of MPICH gives, and how UCX is set in jobs that survive. */
#include "mpich/mpich.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of MPICH over UCX, by one UCX worker (MPIR_CVAR_CH4_NUM_VCIS is not set): the versions whose
 * calls can be interrupted. tests/runtime/test_failure_mark.py compares the marks. */
static const struct { int major, minor, takes_mark; } interruptible[] = {{4, 0, 1}, {4, 2, 0}};

static rgi_mpich_table gives;

static void find(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length, major = 0, minor = 0;
  MPI_Get_library_version(version, &length);
  if (sscanf(version, "MPICH Version: %d.%d", &major, &minor) != 2)
    return;
  gives.handles = sizeof(MPI_Win) == sizeof(int);
  gives.opens_epochs = strstr(version, "ch4") != NULL;
  for (size_t i = 0; i < sizeof interruptible / sizeof *interruptible; i++)
    if (interruptible[i].major == major && interruptible[i].minor == minor &&
        strstr(version, "ch4:ucx") && !getenv("MPIR_CVAR_CH4_NUM_VCIS")) {
      gives.can_interrupt = 1;
      gives.takes_mark = interruptible[i].takes_mark;
    }
#if !__has_include(<ucp/api/ucp.h>) /* interrupt.c is empty */
  gives.can_interrupt = 0;
#endif
}

/* A process that is killed while it sends through UCX's shared memory can leave its receiver deaf.
 * Programs without the library keep UCX's choice: over TCP their MPI_Finalize may hang
 * (polite_end.c). UCX's own keep-alive of TCP ends the process when a network has been silent for
 * half a minute; whether a node is lost is the daemons' to decide. Times of the system's own order.
 */
void rgi_mpich_calm_transport(void) {
  setenv("UCX_TLS", "tcp,self", 0);
  setenv("UCX_TCP_KEEPIDLE", "7200s", 0);
  setenv("UCX_TCP_KEEPINTVL", "75s", 0);
}

const rgi_mpich_table *rgi_mpich_gives(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find);
  return &gives;
}

int rgi_mpich_has_begun(void) {
  int begun = 0;
  PMPI_Initialized(&begun);
  return begun;
}

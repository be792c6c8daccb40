/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Stands in for noded/client/guard_client.c and runtime/finalize.c in libregroup-mpi.so, which has
 * no guard and leaves MPI_Finalize as it is. An application that survives deaths does so by the
 * library that it is linked with. */
#include "noded/client/guard_client.h"
#include "runtime/finalize.h"

int rgi_guard_exists(void) {
  return 0;
}

int rgi_guard_blind(void) {
  return 0;
}

void rgi_guard_tell(const rgi_guard_addresses *addresses, int fd, int listener, int pipe) {
  (void)addresses, (void)fd, (void)listener, (void)pipe;
}

/* After a death that the application survives there is no common finalization either. */
int rgi_finalize_wait(void) {
  return 0;
}

void rgi_finalize_without_mpi(void) {
}

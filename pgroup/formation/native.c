/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The native method: MPI_Comm_create_group. */
#include "formation/comm.h"
#include "runtime/error.h"

int rgi_create_native(const rgi_creation *c, MPI_Comm *newcomm) {
  RGI_TRY_MPI(MPI_Comm_create_group(c->comm, c->group, c->tag, newcomm));
  return RG_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Agreement among a communicator's processes, which MPIX_Comm_ishrink needs, too. */
#ifndef RGI_ULFM_AGREE_H
#define RGI_ULFM_AGREE_H

#include "mpi/fault/fault_operation.h"

/* Starts an operation that agrees on *flag; finish: NULL, or what is left to do then, which gets
 * flag. call: a constant. Returns MPI's code. */
int rgi_ulfm_agree_start(rgi_fault_comm *state, const char *call, int *flag,
                         int (*finish)(rgi_fault_comm *state, int *flag), MPI_Request *request);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#ifndef RGI_FAULT_CREATE_H
#define RGI_FAULT_CREATE_H

#include "mpi/fault/fault_comm.h"

/* Where the caller knows of a failure: it takes no part in the creation that comes next on the
 * communicator, so that members which are in it do not wait for it. */
void rgi_fault_create_abandon(rgi_fault_comm *state);

#endif

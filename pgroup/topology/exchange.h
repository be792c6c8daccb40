/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the processes of a communicator tell one another. */
#ifndef RGI_EXCHANGE_H
#define RGI_EXCHANGE_H

#include "topology/topo_attr.h"

/* The places of comm's processes on this node: known already, or exchanged by
 * all of comm. They belong to comm. comm's errors are to be returned. */
int rgi_exchange_places(const char *call, MPI_Comm comm, const rgi_places **places);

/* Tells comm of an error (RG_SUCCESS: of none). Returns the own one, or else the
 * gravest of the others. */
int rgi_exchange_error(const char *call, MPI_Comm comm, int error);

#endif

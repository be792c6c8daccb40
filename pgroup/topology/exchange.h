/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the processes of a communicator exchange: their places on their node. */
#ifndef RGI_EXCHANGE_H
#define RGI_EXCHANGE_H

#include "topology/topo_attr.h"

/* The places of comm's processes on this node: known already, or exchanged by
 * all of comm. They belong to comm. Errors on comm must return (rgi_errhandler_begin). */
int rgi_exchange_places(const char *call, MPI_Comm comm, const rgi_places **places);

#endif

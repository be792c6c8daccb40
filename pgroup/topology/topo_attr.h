/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the library keeps on a communicator as an attribute: the places of its processes on this
 * node, and which hardware level it is. */
#ifndef RGI_TOPO_ATTR_H
#define RGI_TOPO_ATTR_H

#include <mpi.h>

#include "machine/places.h"

typedef struct {
  rgi_places *places;
  int siblings, index; /* siblings is 0 if the communicator is no level */
  const char *type;
  char types[RGI_PLACES_TYPES];
} rgi_topo_attr;

/* comm's attribute, or NULL. */
int rgi_topo_attr_get(MPI_Comm comm, rgi_topo_attr **attr);

/* Gives comm an attribute that holds `places`; takes over the caller's hold of
 * them, also on failure (and when they are NULL for want of memory). The
 * attribute belongs to comm. */
int rgi_topo_attr_set(const char *call, MPI_Comm comm, rgi_places *places, rgi_topo_attr **attr);

/* RG_ERR_COMM unless comm is an intra-communicator. */
int rgi_topo_attr_check_comm(const char *call, MPI_Comm comm);

/* The places of comm's processes on this node: known already, or exchanged by
 * all of comm. They belong to comm. Errors on comm must return (rgi_errhandler_begin). */
int rgi_topo_attr_exchange(const char *call, MPI_Comm comm, const rgi_places **places);

#endif

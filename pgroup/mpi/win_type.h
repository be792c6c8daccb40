/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's datatypes as layouts in memory, cached on the datatype. */
#ifndef RGI_WIN_TYPE_H
#define RGI_WIN_TYPE_H

#include <mpi.h>

#include "access/layout.h"

typedef struct {
  rgi_layout layout;  /* of its bytes */
  rgi_layout units;   /* of its basic elements, gaps in them included; none: the same */
  MPI_Datatype basic; /* what it consists of; MPI_DATATYPE_NULL: of several types */
  int64_t basic_size; /* bytes of a basic element with its gaps */
} rgi_win_type;

/* Local. NULL: no memory, or not a datatype (MPI has called the error handler of MPI_COMM_WORLD
 * then). Lives as long as the datatype. */
const rgi_win_type *rgi_win_type_of(MPI_Datatype type);

#endif

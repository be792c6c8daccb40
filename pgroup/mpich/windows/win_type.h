/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's datatypes as layouts in memory, cached on the datatype. */
#ifndef RGI_WIN_TYPE_H
#define RGI_WIN_TYPE_H

#include <mpi.h>

#include "access/layout.h"

typedef struct {
  rgi_layout layout;
  MPI_Datatype basic;   /* what it consists of; MPI_DATATYPE_NULL: of several types */
  int64_t basic_size;   /* bytes of a basic element */
  int64_t basic_extent; /* the same with its gaps */
  uintptr_t placing;    /* all offsets, strides and the extent, or-ed: how elements are aligned */
} rgi_win_type;

/* Local. NULL: no memory, or not a datatype that has been committed. Lives as long as the
 * datatype. */
const rgi_win_type *rgi_win_type_of(MPI_Datatype type);

#endif

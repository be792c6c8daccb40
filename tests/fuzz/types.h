/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's types, plain and derived, and counts of them. */
#ifndef TYPES_H
#define TYPES_H

#include <mpi.h>

/* Of a buffer for up to 64 elements of each type at either side of types_buffer. */
enum { TYPES_BUFFER = 1 << 15 };

/* A type; now and then MPI_DATATYPE_NULL. It lasts until MPI_Finalize. */
MPI_Datatype types_draw(void);

/* A count for which the buffer is large enough, a negative one, or one whose bytes overflow. */
MPI_Count types_draw_count(MPI_Datatype type);

/* Whether NULL as a buffer is an error. Otherwise it is MPI_BOTTOM, from which the parts of a type
 * may lie at any distance. */
int types_may_be_null(MPI_Datatype type);

/* Whether elements have no bytes: any count of them is valid. */
int types_are_empty(MPI_Datatype type);

/* Where the elements begin: some types lie before their beginning. */
static inline void *types_buffer(void *memory) {
  return (char *)memory + TYPES_BUFFER / 2;
}

#endif

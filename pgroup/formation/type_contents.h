/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How a datatype was made, whether with counts that are ints or with large ones. */
#ifndef RGI_TYPE_CONTENTS_H
#define RGI_TYPE_CONTENTS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define RGI_TYPE_CONTENTS_NUMBERS 24
#define RGI_TYPE_CONTENTS_TYPES 4

/* Programs make a type for each access: where there are few numbers nothing is allocated. */
typedef struct {
  int combiner;
  size_t numbers, types;
  int64_t *number; /* counts, lengths and displacements, in the order of the constructor's arguments
                      in C, without the types */
  MPI_Datatype *type;
  int64_t few_numbers[RGI_TYPE_CONTENTS_NUMBERS];
  MPI_Datatype few_types[RGI_TYPE_CONTENTS_TYPES];
} rgi_type_contents;

/* 0: no memory, or MPI has returned an error. What was read is to be freed in either case. */
int rgi_type_contents_read(MPI_Datatype type, rgi_type_contents *contents);
void rgi_type_contents_free(rgi_type_contents *contents);

/* MPI_COMBINER_...; MPI_UNDEFINED: MPI has returned an error. */
int rgi_type_contents_combiner(MPI_Datatype type);

/* Whether a type with this combiner consists of no others: it is predefined, or one that Fortran's
 * programs select by range and precision. */
static inline int rgi_type_contents_is_basic(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What passes between Fortran's arguments and those of the room's functions, for the functions that
 * write_fortran.py writes. Fortran's indices count from 1, and its first dimension is C's last one.
 */
#ifndef RGI_FORTRAN_H
#define RGI_FORTRAN_H

#include <ga-mpi.h>
#include <ga.h>
#include <regroup/error.h>
#include <stdlib.h>

#include "ga/ga_handle.h"
#include "ga_core.h"

enum { RGI_FORTRAN_TEXT = 256 };

/* The dimensions of array g; 0 if there is none, which the function that is called then reports. */
static inline int rgi_fortran_dims(int g) {
  return rgi_ga_handle_dims(g);
}

/* A number of dimensions within bounds. */
static inline int rgi_fortran_count(Integer dims) {
  return dims < 0 ? 0 : dims > GA_MAX_DIM ? GA_MAX_DIM : (int)dims;
}

/* How many leading dimensions an array of so many dimensions has. */
static inline int rgi_fortran_lds(int dims) {
  return dims > 0 ? dims - 1 : 0;
}

/* n numbers in reverse order, which in Fortran are larger by `more`. */
static inline void rgi_fortran_in(int n, const Integer from[], int more, int64_t to[]) {
  for (int i = 0; i < n; i++)
    to[n - 1 - i] = (int64_t)from[i] - more;
}

static inline void rgi_fortran_out(int n, const int64_t from[], int more, Integer to[]) {
  for (int i = 0; i < n; i++)
    to[i] = (Integer)from[n - 1 - i] + more;
}

/* Types MT_F_... and the types of C that arrays have. */
int rgi_fortran_type_in(Integer type);
Integer rgi_fortran_type_out(int type);

/* The request that an integer of Fortran stands for, and the integer for what has become of it. */
#ifdef REGROUP_GA_I4
ga_nbhdl_t rgi_fortran_request_in(Integer number);
Integer rgi_fortran_request_out(Integer number, ga_nbhdl_t request);
#else
static inline ga_nbhdl_t rgi_fortran_request_in(Integer number) {
  return number;
}

static inline Integer rgi_fortran_request_out(Integer number, ga_nbhdl_t request) {
  (void)number;
  return request;
}
#endif

/* A copy that ends with a zero, without the blanks at the end. */
void rgi_fortran_text(const char *text, size_t length, char copy[RGI_FORTRAN_TEXT]);

/* A text in a variable of this length, filled up with blanks. */
void rgi_fortran_string(const char *text, char *to, size_t length);

/* The index of an element of array g in the common block of its type. Ends the job if the block is
 * not a whole number of elements away. */
long rgi_fortran_index(const char *call, int g, const void *element);

/* Copies in memory that the caller frees: integers; n subscripts of so many dimensions, or of two
 * from arrays of their own; for each dimension the first indices of its parts. */
int *rgi_fortran_ints(const Integer *list, Integer n);
int64_t *rgi_fortran_subscripts(int dims, Integer n, const Integer *list);
int64_t *rgi_fortran_pairs(Integer n, const Integer *i, const Integer *j);
int64_t *rgi_fortran_map(int dims, const Integer *const parts[], const int64_t sizes[]);

/* Where in Fortran's map the part of each of its dimensions begins; sizes in C's order. */
void rgi_fortran_parts(int dims, const Integer *map, const int64_t sizes[], const Integer *parts[]);

#endif

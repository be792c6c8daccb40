/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Random arrays, and what is in them as a plain C array that every rank holds: the
 * reference for tests of whole arrays. Elements are small whole numbers, so that sums
 * and products are exact in any order. All ranks draw the same. */
#ifndef MATH_CASES_H
#define MATH_CASES_H

#include <complex.h>
#include <mpi.h>
#include <regroup.h>

#include "tests/check/check.h"

/* Groups of the tests: the world, its reverse, every other rank (NULL elsewhere). */
extern rg_group math_world, math_reverse, math_even;
void math_start(void);
void math_stop(void);

/* How many of n cases to run: fewer on pretended nodes, where everything is slow. */
int math_cases(int n);

/* 0 .. n - 1 */
int64_t math_draw(int64_t n);
void math_seed(int suite);

typedef struct {
  rg_array a;
  rg_array_type type;
  size_t element;
  int dims;
  int64_t shape[RG_ARRAY_MAX_DIMS], n;
  char *all; /* the reference */
} math_array;

rg_array_type math_type(void);         /* one with arithmetic */
rg_array_type math_real_type(void);    /* float or double */
rg_array_type math_ordered_type(void); /* not complex */
rg_array_type math_blas_type(void);    /* not an integer */

/* A shape of 1 to 7 dimensions, sometimes empty, often smaller than the group. */
int math_shape(int64_t shape[]);

/* An array of any layout with random elements. g NULL: world or its reverse. */
math_array math_make(rg_group g, rg_array_type type, int dims, const int64_t shape[]);
void math_free(math_array *x);

/* Puts the reference into the array. */
void math_set(math_array *x);

/* How many elements differ from the reference; collective over the array's group. */
int64_t math_differences(const math_array *x);

/* Elements of the reference as numbers. */
double _Complex math_at(const math_array *x, int64_t i);
void math_put(math_array *x, int64_t i, double _Complex value);
double _Complex math_number(rg_array_type type, const void *at);

/* A random patch, sometimes empty; a walk through its elements by their numbers. */
void math_patch(const math_array *x, int64_t lo[], int64_t hi[]);
int64_t math_count(const math_array *x, const int64_t lo[], const int64_t hi[]);
int64_t math_index(const math_array *x, const int64_t lo[], const int64_t hi[], int64_t i);

/* A small whole number as an element of the type. */
typedef union {
  char bytes[16];
  int32_t i32;
  int64_t i64;
  float f[2];
  double d[2];
} math_scalar;
math_scalar math_element(rg_array_type type, double _Complex value);
double _Complex math_value(rg_array_type type);

#endif

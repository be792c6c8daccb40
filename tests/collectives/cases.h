/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the tests of collectives share: types, operations, groups, and memory
 * that is compared byte by byte, gaps included, with what it should be. */
#ifndef CASES_H
#define CASES_H

#include <mpi.h>
#include <regroup.h>
#include <regroup/collectives.h>
#include <stddef.h>

#include "tests/check/check.h"

#define ITEMS_MOST 4
#define RANKS_MOST 64

/* A datatype: its items are ints or doubles at some places in an element. */
typedef struct {
  const char *name;
  MPI_Datatype type;
  int items;
  size_t at[ITEMS_MOST], extent;
  char is_double[ITEMS_MOST];
} type_case;

enum { INTS, DOUBLES, GAPS, STRUCTS, MATRIX, MATRIX_GAPS, TYPES };
#define MOVED_TYPES MATRIX /* the types that are only moved come first */

extern type_case types[TYPES];

/* Operations, all exact. The user's multiplies matrices of 2 x 2: it does not
 * commute. */
typedef struct {
  const char *name;
  MPI_Op op;
  int type;
} op_case;

enum { SUM_INT, SUM_DOUBLE, MAX_INT, PRODUCT, PRODUCT_GAPS, OPS };

extern op_case ops[OPS];

void make_cases(void);
void free_cases(void);

/* A number for an item, the same wherever it is asked for. */
long long item_value(int rank, long long element, int item);

/* Memory for count elements, filled with a pattern. */
char *blank(const type_case *t, long long count);

/* Puts what rank has as elements [first, first + count) at element `at`. */
void fill(const type_case *t, char *memory, long long at, int rank, long long first,
          long long count);

/* Puts elements [first, first + count) of ranks low .. high combined in order. */
void fill_combined(const op_case *o, char *memory, long long at, int low, int high, long long first,
                   long long count);

/* Compares and frees expected. */
int same_memory(const type_case *t, const char *memory, char *expected, long long count);

/* Random numbers that all ranks draw alike. */
void draw_start(int salt);
int draw(int below);
long long draw_count(void); /* often small, sometimes 0, sometimes large */

/* The groups on which all is tested: the world, all in a drawn order, and all
 * node by node, one from another node first. */
enum { WORLD, SHUFFLED, BY_NODE, GROUPS };
extern rg_group groups[GROUPS];
void start_groups(void);
void stop_groups(void);

/* What is being tested now, printed when a check fails. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int checked(int good);

/* Ends a call: waits for a non-blocking one. */
int ended(int error, rg_request *request);

/* Calls test for each algorithm of the operation on each group, blocking and not. */
typedef void algorithm_test(rg_group g, int rank, int size, int blocking);
void each_algorithm(rg_operation operation, int turns, algorithm_test *test);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "cases.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/node.h"

type_case types[TYPES];
op_case ops[OPS];
rg_group groups[GROUPS];

#define PATTERN 0x5a
#define PRIME 1009

/* --- types and operations --------------------------------------------------------- */

static void make_type(int i, const char *name, int items, const size_t at[], size_t extent,
                      const char *is_double, MPI_Datatype type) {
  types[i] = (type_case){.name = name, .type = type, .items = items, .extent = extent};
  for (int k = 0; k < items; k++) {
    types[i].at[k] = at[k];
    types[i].is_double[k] = is_double[k] == 'd';
  }
}

/* c = a b, modulo a prime. */
static void multiply(const int *a, int *b) {
  int c[4];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      c[2 * i + j] = (a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j]) % PRIME;
  memcpy(b, c, sizeof c);
}

static void multiply_all(void *in, void *inout, int *n, MPI_Datatype *type) {
  const type_case *t = *type == types[MATRIX].type ? &types[MATRIX] : &types[MATRIX_GAPS];
  for (int e = 0; e < *n; e++) {
    int a[4], b[4];
    char *left = (char *)in + (size_t)e * t->extent, *right = (char *)inout + (size_t)e * t->extent;
    for (int i = 0; i < 4; i++) {
      memcpy(&a[i], left + t->at[i], sizeof(int));
      memcpy(&b[i], right + t->at[i], sizeof(int));
    }
    multiply(a, b);
    for (int i = 0; i < 4; i++)
      memcpy(right + t->at[i], &b[i], sizeof(int));
  }
}

void make_cases(void) {
  const size_t zero[] = {0}, pairs[] = {0, 4, 12, 16}, mixed[] = {8, 0}, quad[] = {0, 4, 8, 12};
  MPI_Datatype made, plain;
  MPI_Op product;
  make_type(INTS, "int", 1, zero, 4, "i", MPI_INT);
  make_type(DOUBLES, "double", 1, zero, 8, "d", MPI_DOUBLE);
  for (int i = GAPS; i <= MATRIX_GAPS; i += MATRIX_GAPS - GAPS) {
    MPI_Type_vector(2, 2, 3, MPI_INT, &plain);
    MPI_Type_create_resized(plain, 0, 24, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&plain);
    make_type(i, "vector with gaps", 4, pairs, 24, "iiii", made);
  }
  int lengths[] = {1, 1};
  MPI_Aint displacements[] = {8, 0};
  MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, displacements, parts, &plain);
  MPI_Type_create_resized(plain, 0, 16, &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&plain);
  make_type(STRUCTS, "struct, the last part first", 2, mixed, 16, "id", made);
  MPI_Type_contiguous(4, MPI_INT, &made);
  MPI_Type_commit(&made);
  make_type(MATRIX, "matrix", 4, quad, 16, "iiii", made);
  MPI_Op_create(multiply_all, 0, &product);
  ops[SUM_INT] = (op_case){"sum of ints", MPI_SUM, INTS};
  ops[SUM_DOUBLE] = (op_case){"sum of doubles", MPI_SUM, DOUBLES};
  ops[MAX_INT] = (op_case){"max of ints", MPI_MAX, INTS};
  ops[PRODUCT] = (op_case){"matrix product", product, MATRIX};
  ops[PRODUCT_GAPS] = (op_case){"matrix product with gaps", product, MATRIX_GAPS};
}

void free_cases(void) {
  for (int i = GAPS; i < TYPES; i++)
    MPI_Type_free(&types[i].type);
  MPI_Op_free(&ops[PRODUCT].op);
}

/* --- memory ------------------------------------------------------------------------- */

long long item_value(int rank, long long element, int item) {
  uint64_t x =
      (uint64_t)rank * 7919 + (uint64_t)element * 31 + (uint64_t)item * 17 + rgt_seed() * 13;
  x = (x ^ (x >> 15)) * 0x2545f4914f6cdd1du;
  return (long long)((x >> 20) % PRIME);
}

char *blank(const type_case *t, long long count) {
  size_t bytes = (size_t)count * t->extent + 1;
  char *memory = malloc(bytes);
  memset(memory, PATTERN, bytes);
  return memory;
}

static void put(const type_case *t, char *memory, long long element, int item, long long value) {
  char *to = memory + (size_t)element * t->extent + t->at[item];
  double d = (double)value;
  int i = (int)value;
  if (t->is_double[item])
    memcpy(to, &d, sizeof d);
  else
    memcpy(to, &i, sizeof i);
}

void fill(const type_case *t, char *memory, long long at, int rank, long long first,
          long long count) {
  for (long long e = 0; e < count; e++)
    for (int i = 0; i < t->items; i++)
      put(t, memory, at + e, i, item_value(rank, first + e, i));
}

static void fill_product(const type_case *t, char *memory, long long at, int low, int high,
                         long long element) {
  int a[4], b[4];
  for (int i = 0; i < 4; i++)
    b[i] = (int)item_value(high, element, i);
  for (int r = high - 1; r >= low; r--) {
    for (int i = 0; i < 4; i++)
      a[i] = (int)item_value(r, element, i);
    multiply(a, b);
  }
  for (int i = 0; i < 4; i++)
    put(t, memory, at, i, b[i]);
}

void fill_combined(const op_case *o, char *memory, long long at, int low, int high, long long first,
                   long long count) {
  const type_case *t = &types[o->type];
  for (long long e = first; e < first + count; e++, at++) {
    if (t->items == 4) {
      fill_product(t, memory, at, low, high, e);
      continue;
    }
    long long result = item_value(low, e, 0);
    for (int r = low + 1; r <= high; r++) {
      long long x = item_value(r, e, 0);
      result = o->op == MPI_SUM ? result + x : result > x ? result : x;
    }
    put(t, memory, at, 0, result);
  }
}

int same_memory(const type_case *t, const char *memory, char *expected, long long count) {
  int same = memcmp(memory, expected, (size_t)count * t->extent) == 0;
  free(expected);
  return same;
}

/* --- drawing ------------------------------------------------------------------------- */

static uint64_t drawn;

void draw_start(int salt) {
  drawn = rgt_seed() * 1000003u + (uint64_t)salt;
}

int draw(int below) {
  drawn += 0x9e3779b97f4a7c15u;
  uint64_t x = (drawn ^ (drawn >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (int)((x >> 33) % (uint64_t)below);
}

long long draw_count(void) {
  static const int limits[] = {1, 4, 20, 300, 6000};
  return draw(limits[draw(5)] + 1);
}

/* --- groups -------------------------------------------------------------------------- */

/* Stable by node: the last node's processes first. */
static void sort_by_node(int ranks[]) {
  int n = 0;
  for (int node = rgt_size - 1; node >= 0; node--)
    for (int r = 0; r < rgt_size; r++)
      if (rgi_node_of(r) == node)
        ranks[n++] = r;
}

void start_groups(void) {
  int ranks[RANKS_MOST];
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&groups[WORLD]));
  draw_start(1);
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  for (int i = rgt_size - 1; i > 0; i--) {
    int j = draw(i + 1), r = ranks[i];
    ranks[i] = ranks[j];
    ranks[j] = r;
  }
  RGT_OK(rg_group_create(groups[WORLD], rgt_size, ranks, 0, &groups[SHUFFLED]));
  sort_by_node(ranks);
  RGT_OK(rg_group_create(groups[WORLD], rgt_size, ranks, 1, &groups[BY_NODE]));
  make_cases();
}

void stop_groups(void) {
  free_cases();
  for (int i = 0; i < GROUPS; i++)
    RGT_OK(rg_group_free(&groups[i]));
  RGT_OK(rg_finalize());
}

static char context[160], detail[160];

void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
}

int checked(int good) {
  if (!RGT_TRUE(good))
    fprintf(stderr, "rank %d: %s, %s\n", rgt_rank, context, detail);
  return good;
}

int ended(int error, rg_request *request) {
  if (!error && *request)
    error = rg_wait(request, NULL);
  if (!RGT_OK(error))
    fprintf(stderr, "rank %d: %s, %s\n", rgt_rank, context, detail);
  return error;
}

static void test_on(rg_group g, const char *operation, const char *name, int turns,
                    algorithm_test *test) {
  int rank, size;
  rg_group_rank(g, &rank);
  rg_group_size(g, &size);
  for (int turn = 0; turn < turns; turn++) {
    snprintf(context, sizeof context, "%s=%s, %s, turn %d", operation, name,
             g == groups[WORLD]     ? "world"
             : g == groups[BY_NODE] ? "node by node"
                                    : "drawn order",
             turn);
    test(g, rank, size, turn % 2 == 0);
  }
}

void each_algorithm(rg_operation operation, int turns, algorithm_test *test) {
  int count;
  const char *name, *op = rg_operation_name(operation);
  rg_algorithm_count(operation, &count);
  for (int a = -1; a < count; a++) {
    name = "auto";
    if (a >= 0)
      rg_algorithm_get(operation, a, &name, NULL, NULL);
    draw_start(100 * (int)operation + a);
    for (int i = 0; i < GROUPS; i++) {
      RGT_OK(rg_group_set_algorithm(groups[i], operation, name));
      test_on(groups[i], op, name, turns, test);
      RGT_OK(rg_group_set_algorithm(groups[i], operation, NULL));
    }
  }
}

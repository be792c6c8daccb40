/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Accesses to windows with every operation on every predefined type, and with derived types that
 * differ on the sides: misaligned, backwards, with large counts, of pairs. What lies between the
 * elements is to stay. Arguments: a seed, and how many accesses are drawn beyond those of all
 * operations and types. MPI alone prints the same. */
#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

enum { BYTES = 1024, MIDDLE = BYTES / 2, MOST = 6 };

typedef enum { INTEGER, TRUTH, FLOAT, DOUBLE, LONG_DOUBLE } number;

/* A type consists of `first` and `second` numbers; the second one is an int's, if any. */
typedef struct {
  MPI_Datatype type;
  number kind;
  int numbers;
  int pair;
} basic;

static uint64_t drawn;
static char *window;
static MPI_Win win;
static int rank, size;

static unsigned draw(unsigned below) {
  drawn = drawn * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(drawn >> 33) % below;
}

/* --- elements -------------------------------------------------------------------------------- */

static basic basics[64];
static int types;

static void add(MPI_Datatype type, number kind, int numbers, int pair) {
  if (type != MPI_DATATYPE_NULL)
    basics[types++] = (basic){type, kind, numbers, pair};
}

static void add_all(void) {
  const MPI_Datatype integers[] = {
      MPI_INT,         MPI_LONG,          MPI_SHORT,          MPI_LONG_LONG,
      MPI_UNSIGNED,    MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG_LONG,
      MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T,         MPI_INT16_T,
      MPI_INT32_T,     MPI_INT64_T,       MPI_UINT8_T,        MPI_UINT16_T,
      MPI_UINT32_T,    MPI_UINT64_T,      MPI_AINT,           MPI_COUNT,
      MPI_OFFSET,      MPI_BYTE,          MPI_INTEGER,        MPI_INTEGER1,
      MPI_INTEGER2,    MPI_INTEGER4,      MPI_INTEGER8,       MPI_CHAR,
      MPI_CHARACTER};
  const MPI_Datatype floats[] = {MPI_FLOAT, MPI_REAL, MPI_REAL4},
                     doubles[] = {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8};
  MPI_Datatype chosen;
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
    add(integers[i], INTEGER, 1, 0);
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    add(floats[i], FLOAT, 1, 0);
  for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
    add(doubles[i], DOUBLE, 1, 0);
  add(MPI_C_BOOL, TRUTH, 1, 0);
  add(MPI_LOGICAL, TRUTH, 1, 0);
  add(MPI_LONG_DOUBLE, LONG_DOUBLE, 1, 0);
  add(MPI_C_FLOAT_COMPLEX, FLOAT, 2, 0);
  add(MPI_C_DOUBLE_COMPLEX, DOUBLE, 2, 0);
  add(MPI_C_LONG_DOUBLE_COMPLEX, LONG_DOUBLE, 2, 0);
  add(MPI_COMPLEX, FLOAT, 2, 0);
  add(MPI_DOUBLE_COMPLEX, DOUBLE, 2, 0);
  add(MPI_2INT, INTEGER, 1, 4);
  add(MPI_SHORT_INT, INTEGER, 1, 4);
  add(MPI_LONG_INT, INTEGER, 1, 8);
  add(MPI_FLOAT_INT, FLOAT, 1, 4);
  add(MPI_DOUBLE_INT, DOUBLE, 1, 8);
  add(MPI_LONG_DOUBLE_INT, LONG_DOUBLE, 1, 16);
  MPI_Type_create_f90_real(15, 300, &chosen);
  add(chosen, DOUBLE, 1, 0);
  MPI_Type_create_f90_integer(4, &chosen);
  add(chosen, INTEGER, 1, 0);
}

/* One number, of so many bytes. */
static void set_number(const basic *b, char *at, int bytes) {
  int value = (int)draw(b->kind == TRUTH ? 2 : 7);
  float f = (float)value;
  double d = value;
  long double l = value;
  if (b->kind == FLOAT)
    memcpy(at, &f, sizeof f);
  else if (b->kind == DOUBLE)
    memcpy(at, &d, sizeof d);
  else {
    memset(at, 0, (size_t)bytes);
    *at = (char)value; /* little-endian */
  }
  if (b->kind == LONG_DOUBLE)
    memcpy(at, &l, LDBL_MANT_DIG == 64 ? 10 : sizeof l); /* without x86's padding */
}

static void set_element(const basic *b, char *at) {
  int bytes, second = (int)draw(7);
  MPI_Type_size(b->type, &bytes);
  bytes = b->pair ? bytes - (int)sizeof(int) : bytes / b->numbers;
  for (int i = 0; i < b->numbers; i++)
    set_number(b, at + i * bytes, bytes);
  if (b->pair)
    memcpy(at + b->pair, &second, sizeof second);
}

/* --- sides ----------------------------------------------------------------------------------- */

/* count elements of a type, from `from` on, are n basic ones, which lie at these places. */
typedef struct {
  MPI_Datatype type;
  int count, derived;
  MPI_Aint from, place[MOST];
} side;

static void place_evenly(side *s, int n, MPI_Aint stride) {
  for (int i = 0; i < n; i++)
    s->place[i] = s->from + i * stride;
}

/* Elements a stride apart, or backwards from the middle: also as far as ints cannot be aligned. */
static void make_strided(const basic *b, side *s, int n, MPI_Aint extent) {
  MPI_Aint stride = extent + draw(10), at[MOST];
  s->count = 1;
  s->derived = 1;
  if (draw(2)) {
    place_evenly(s, n, stride);
    MPI_Type_create_hvector(n, 1, stride, b->type, &s->type);
    return;
  }
  place_evenly(s, n, -stride);
  for (int i = 0; i < n; i++)
    at[i] = s->place[i] - s->from;
  MPI_Type_create_hindexed_block(n, 1, at, b->type, &s->type);
}

/* Elements of a type with another extent, or with large counts. */
static void make_spread(const basic *b, side *s, int n, MPI_Aint extent) {
  MPI_Datatype inner;
  int far = (int)draw(2);
  s->derived = 1;
  if (far) {
    s->count = n;
    MPI_Type_create_resized(b->type, -8, extent + 16, &s->type);
    place_evenly(s, n, extent + 16);
    return;
  }
  s->count = 1;
#if MPI_VERSION >= 4
  MPI_Type_vector_c(n, 1, 2, b->type, &inner);
#else
  MPI_Type_vector(n, 1, 2, b->type, &inner);
#endif
  MPI_Type_dup(inner, &s->type);
  MPI_Type_free(&inner);
  place_evenly(s, n, 2 * extent);
}

/* The first element behind the others. */
static void make_struct(const basic *b, side *s, int n, MPI_Aint extent) {
  int lengths[] = {1, n - 1};
  MPI_Aint displs[] = {n * extent, 0};
  MPI_Datatype parts[] = {b->type, b->type};
  s->count = 1;
  s->derived = 1;
  MPI_Type_create_struct(2, lengths, displs, parts, &s->type);
  for (int i = 0; i < n; i++)
    s->place[i] = s->from + (i ? (i - 1) * extent : n * extent);
}

static void make_side(const basic *b, side *s, int n, int dense) {
  MPI_Aint low, extent;
  unsigned shape = dense || n == 0 ? 0 : draw(4);
  MPI_Type_get_extent(b->type, &low, &extent);
  *s = (side){.type = b->type, .count = n, .from = MIDDLE + (dense ? 0 : draw(3) * draw(8))};
  place_evenly(s, n, extent);
  if (shape == 1)
    make_strided(b, s, n, extent);
  else if (shape == 2)
    make_spread(b, s, n, extent);
  else if (shape == 3)
    make_struct(b, s, n, extent);
  if (s->derived)
    MPI_Type_commit(&s->type);
}

static void fill(const basic *b, const side *s, int n, char *memory) {
  for (int i = 0; i < BYTES; i++)
    memory[i] = (char)draw(256);
  for (int i = 0; i < n; i++)
    set_element(b, memory + s->place[i]);
}

/* --- accesses -------------------------------------------------------------------------------- */

typedef enum { ACCUMULATE, GET_ACCUMULATE, FETCH, SWAP, PUT, GET, CALLS } call;

static int access_with_request(call c, const char *from, char *to, const side *o, const side *r,
                               const side *t, int target, MPI_Op op) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code =
      c == PUT
          ? MPI_Rput(from, o->count, o->type, target, t->from, t->count, t->type, win, &request)
      : c == GET
          ? MPI_Rget(to, r->count, r->type, target, t->from, t->count, t->type, win, &request)
      : c == ACCUMULATE
          ? MPI_Raccumulate(from, o->count, o->type, target, t->from, t->count, t->type, op, win,
                            &request)
          : MPI_Rget_accumulate(from, o->count, o->type, to, r->count, r->type, target, t->from,
                                t->count, t->type, op, win, &request);
  if (request != MPI_REQUEST_NULL)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  return code;
}

static int access_once(call c, const char *from, char *to, const side *o, const side *r,
                       const side *t, int target, MPI_Op op) {
  if (c == FETCH)
    return MPI_Fetch_and_op(from, to, t->type, target, t->from, op, win);
  if (c == SWAP)
    return MPI_Compare_and_swap(from, from + 128, to, t->type, target, t->from, win);
  if (c == PUT)
    return MPI_Put(from, o->count, o->type, target, t->from, t->count, t->type, win);
  if (c == GET)
    return MPI_Get(to, r->count, r->type, target, t->from, t->count, t->type, win);
  if (c == ACCUMULATE)
    return MPI_Accumulate(from, o->count, o->type, target, t->from, t->count, t->type, op, win);
  return MPI_Get_accumulate(from, o->count, o->type, to, r->count, r->type, target, t->from,
                            t->count, t->type, op, win);
}

static void free_side(side *s) {
  if (s->derived)
    MPI_Type_free(&s->type);
}

/* Whether MPI defines the operation on the type; MPICH may wait for ever where it does not. */
static int is_defined(const basic *b, MPI_Op op) {
  int is_bits = op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR,
      is_logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR,
      is_extreme = op == MPI_MAX || op == MPI_MIN, is_sum = op == MPI_SUM || op == MPI_PROD;
  if (op == MPI_REPLACE || op == MPI_NO_OP)
    return 1;
  if (b->pair)
    return op == MPI_MAXLOC || op == MPI_MINLOC;
  if (b->type == MPI_CHAR || b->type == MPI_CHARACTER)
    return 0;
  if (b->type == MPI_BYTE || b->kind == TRUTH)
    return b->kind == TRUTH ? is_logical : is_bits;
  return is_sum || (b->numbers == 1 && is_extreme) ||
         (b->kind == INTEGER && (is_bits || is_logical));
}

static int can_be_swapped(const basic *b) {
  return !b->pair && (b->kind == INTEGER || b->kind == TRUTH);
}

/* The first process accesses the last one's memory. */
static void try_access(call c, const basic *b, MPI_Op op, int n, int dense) {
  static char from[BYTES], to[BYTES];
  side o, r, t;
  int code = MPI_SUCCESS, class, with_request = (int)draw(2);
  make_side(b, &o, n, dense);
  make_side(b, &r, n, dense);
  make_side(b, &t, n, dense);
  fill(b, &o, n, from);
  if (c == SWAP)
    set_element(b, from + o.from + 128);
  fill(b, &r, n, to);
  fill(b, &t, n, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, win);
  if (rank == 0 && with_request && c != FETCH && c != SWAP)
    code = access_with_request(c, from + o.from, to + r.from, &o, &r, &t, size - 1, op);
  else if (rank == 0)
    code = access_once(c, from + o.from, to + r.from, &o, &r, &t, size - 1, op);
  MPI_Win_unlock(size - 1, win);
  MPI_Error_class(code, &class);
  MPI_Barrier(MPI_COMM_WORLD);
  plain_number("class", class);
  plain_print("window", window, BYTES);
  plain_print("result", to, BYTES);
  free_side(&o);
  free_side(&r);
  free_side(&t);
}

/* Programs give one buffer for the origin and the result. */
static void try_one_buffer(void) {
  int both[] = {1, 2, 3};
  memset(window, 1, BYTES);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, win);
  if (rank == 0)
    MPI_Get_accumulate(both, 3, MPI_INT, both, 3, MPI_INT, size - 1, 0, 3, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock(size - 1, win);
  MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, win);
  if (rank == 0)
    MPI_Fetch_and_op(both, both, MPI_INT, size - 1, 1, MPI_MAX, win); /* not aligned */
  MPI_Win_unlock(size - 1, win);
  MPI_Barrier(MPI_COMM_WORLD);
  plain_print("window", window, BYTES);
  plain_print("result", both, sizeof both);
}

int main(int argc, char **argv) {
  const MPI_Op ops[] = {MPI_SUM,    MPI_PROD,   MPI_MAX,     MPI_MIN,  MPI_BAND,
                        MPI_BOR,    MPI_BXOR,   MPI_LAND,    MPI_LOR,  MPI_LXOR,
                        MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
  const int n = (int)(sizeof ops / sizeof *ops);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  drawn = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  add_all();
  for (int t = 0; t < types; t++) {
    for (int i = 0; i < n; i++) {
      if (!is_defined(&basics[t], ops[i]))
        continue;
      try_access(GET_ACCUMULATE, &basics[t], ops[i], 3, 1);
      try_access(FETCH, &basics[t], ops[i], 1, 1);
    }
    if (can_be_swapped(&basics[t]))
      try_access(SWAP, &basics[t], MPI_OP_NULL, 1, 1);
  }
  for (int i = argc > 2 ? atoi(argv[2]) : 100; i > 0; i--) {
    call c = (call)draw(CALLS);
    const basic *b = &basics[draw((unsigned)types)];
    MPI_Op op = ops[draw((unsigned)n)];
    int one = c == FETCH || c == SWAP;
    if (b->kind == LONG_DOUBLE) /* MPICH moves what is behind the number with it, or does not */
      continue;
    if (c == SWAP ? can_be_swapped(b) : is_defined(b, op))
      try_access(c, b, op, one ? 1 : (int)draw(MOST + 1), one);
  }
  try_one_buffer();
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}

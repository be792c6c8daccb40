/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2
 * Each built-in operation on each type that has it, on random elements at random addresses: bit for
 * bit what MPI_Reduce_local gives, or where MPI libraries differ, for sums of integers, minimum and
 * maximum, plain C; nothing beside the elements changes. All of these have loops of the library's
 * own. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "collectives/reduction/op.h"
#include "tests/check/check.h"

enum {
  INTEGERS = 1,
  UNSIGNEDS = 2,
  REALS = 4,
  COMPLEXES = 8,
  BOOLS = 16,
  RAW = 32,
  PAIRS = 64,
  FORTRAN_INTEGERS = 128
};

typedef struct {
  const char *name;
  MPI_Datatype type;
  size_t size, align; /* align: of a number */
  int kind;
  int reals; /* of a pair: how many of its two are reals, the value first */
} type_case;

#define TYPE(type, c_type, number, kind)                                                           \
  { #type, type, sizeof(c_type), sizeof(number), kind, 0 }
#define NUMBER(type, c_type, kind)                                                                 \
  { #type, type, sizeof(c_type), sizeof(c_type), kind, 0 }
/* A number has half of a pair: behind it there may be bytes of neither. */
#define PAIR(type, half, reals)                                                                    \
  { #type, type, 2 * (half), half, PAIRS, reals }

typedef struct {
  const char *name;
  MPI_Op op;
  int kinds;
} op_case;

static unsigned long long seed;
static uint64_t drawn;

static uint64_t draw(void) {
  uint64_t x = (seed + ++drawn) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

enum { MOST = 300, EDGE = 64, ROOM = 2 * EDGE + MOST * 16 };

typedef struct {
  _Alignas(64) char in[ROOM], inout[ROOM], expected[ROOM];
} memory;

static double special_number(void) {
  const double numbers[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 5e-324, 1.7e308, 0.1};
  return numbers[draw() % (sizeof numbers / sizeof *numbers)];
}

/* A number: random bits, a small one, or for reals a special one. which: the first or the second of
 * a pair. */
static void store_number(const type_case *t, int which, char *at) {
  uint64_t bits = draw() % 3 ? draw() : draw() % 3;
  double real = draw() % 2 ? special_number() : (double)(int64_t)draw() * 1e-15;
  float single = (float)real;
  if (t->kind == BOOLS)
    bits = bits % 2;
  if (t->kind == REALS || t->kind == COMPLEXES || which < t->reals)
    memcpy(at, t->align == 8 ? (void *)&real : &single, t->align);
  else
    memcpy(at, &bits, t->align);
}

static void fill(const type_case *t, memory *m, size_t from, size_t to, size_t count) {
  for (size_t i = 0; i < ROOM; i++)
    m->in[i] = m->inout[i] = (char)(i % 251);
  for (size_t i = 0; i < count * t->size; i += t->align) {
    store_number(t, i / t->align % 2, m->in + from + i);
    store_number(t, i / t->align % 2, m->inout + to + i);
  }
}

static uint64_t number_at(const char *at, size_t size) {
  uint64_t n = 0;
  memcpy(&n, at, size); /* little-endian machines */
  return n;
}

static uint64_t combined(const type_case *t, MPI_Op op, uint64_t in, uint64_t inout) {
  /* With this bit changed, signed integers have the order of unsigned ones. */
  uint64_t sign = t->kind == INTEGERS ? UINT64_C(1) << (8 * t->size - 1) : 0;
  if (op == MPI_SUM)
    return in + inout;
  return ((in ^ sign) < (inout ^ sign)) == (op == MPI_MIN) ? in : inout;
}

/* Of equal numbers, and where one is not a number, in's. */
static double extreme(MPI_Op op, double in, double inout) {
  return (op == MPI_MIN ? inout < in : inout > in) ? inout : in;
}

static void combine_one(const type_case *t, MPI_Op op, const char *in, char *inout) {
  float a, b;
  double x, y;
  if (t->kind != REALS) {
    uint64_t n = combined(t, op, number_at(in, t->size), number_at(inout, t->size));
    memcpy(inout, &n, t->size);
  } else if (t->size == sizeof a) {
    memcpy(&a, in, sizeof a);
    memcpy(&b, inout, sizeof b);
    a = (float)extreme(op, (double)a, (double)b);
    memcpy(inout, &a, sizeof a);
  } else {
    memcpy(&x, in, sizeof x);
    memcpy(&y, inout, sizeof y);
    x = extreme(op, x, y);
    memcpy(inout, &x, sizeof x);
  }
}

static void combine_plainly(const type_case *t, const op_case *o, const char *in, char *inout,
                            size_t count) {
  const int integers = INTEGERS | UNSIGNEDS;
  int plainly = o->op == MPI_SUM   ? integers
                : o->op == MPI_MIN ? integers | REALS
                : o->op == MPI_MAX ? integers | REALS
                                   : 0;
  if (!(t->kind & plainly)) {
    MPI_Reduce_local(in, inout, (int)count, t->type, o->op);
    return;
  }
  for (size_t i = 0; i < count * t->size; i += t->size)
    combine_one(t, o->op, in + i, inout + i);
}

/* Of two operands that are no numbers either one may be taken. */
static int same_number(const type_case *t, const char *a, const char *b) {
  double x, y;
  float u, v;
  if (memcmp(a, b, t->align) == 0)
    return 1;
  if (t->kind != REALS && t->kind != COMPLEXES)
    return 0;
  memcpy(&x, a, t->align == 8 ? 8 : 0);
  memcpy(&y, b, t->align == 8 ? 8 : 0);
  memcpy(&u, a, 4);
  memcpy(&v, b, 4);
  return t->align == 8 ? isnan(x) && isnan(y) : isnan(u) && isnan(v);
}

static int same_memory(const type_case *t, const memory *m, size_t to, size_t count) {
  size_t end = to + count * t->size;
  int same = memcmp(m->inout, m->expected, to) == 0 &&
             memcmp(m->inout + end, m->expected + end, ROOM - end) == 0;
  for (size_t i = to; i < end && same; i += t->align)
    same = same_number(t, m->inout + i, m->expected + i);
  return same;
}

static void check(const type_case *t, const op_case *o) {
  static memory m;
  for (int repeat = 0; repeat < 20; repeat++) {
    size_t count = repeat < 4 ? (size_t)repeat : draw() % MOST;
    size_t from = draw() % (EDGE / t->align) * t->align, to = draw() % (EDGE / t->align) * t->align;
    fill(t, &m, from, to, count);
    memcpy(m.expected, m.inout, ROOM);
    combine_plainly(t, o, m.in + from, m.expected + to, count);
    RGT_TRUE(rgi_op_kernel_of(t->type, o->op)->run != NULL);
    RGT_OK(rgi_op_apply(m.in + from, m.inout + to, count, t->type, o->op));
    if (!RGT_TRUE(same_memory(t, &m, to, count))) {
      RGT_STR(t->name, o->name); /* they differ: the report names both */
      return;
    }
  }
}

static void test_all(void) {
  const type_case types[] = {NUMBER(MPI_SIGNED_CHAR, signed char, INTEGERS),
                             NUMBER(MPI_SHORT, short, INTEGERS),
                             NUMBER(MPI_INT, int, INTEGERS),
                             NUMBER(MPI_LONG, long, INTEGERS),
                             NUMBER(MPI_LONG_LONG, long long, INTEGERS),
                             NUMBER(MPI_INT8_T, int8_t, INTEGERS),
                             NUMBER(MPI_INT16_T, int16_t, INTEGERS),
                             NUMBER(MPI_INT32_T, int32_t, INTEGERS),
                             NUMBER(MPI_INT64_T, int64_t, INTEGERS),
                             NUMBER(MPI_AINT, MPI_Aint, INTEGERS),
                             NUMBER(MPI_COUNT, MPI_Count, INTEGERS),
                             NUMBER(MPI_OFFSET, MPI_Offset, INTEGERS),
                             NUMBER(MPI_UNSIGNED_CHAR, unsigned char, UNSIGNEDS),
                             NUMBER(MPI_UNSIGNED_SHORT, unsigned short, UNSIGNEDS),
                             NUMBER(MPI_UNSIGNED, unsigned, UNSIGNEDS),
                             NUMBER(MPI_UNSIGNED_LONG, unsigned long, UNSIGNEDS),
                             NUMBER(MPI_UNSIGNED_LONG_LONG, unsigned long long, UNSIGNEDS),
                             NUMBER(MPI_UINT8_T, uint8_t, UNSIGNEDS),
                             NUMBER(MPI_UINT16_T, uint16_t, UNSIGNEDS),
                             NUMBER(MPI_UINT32_T, uint32_t, UNSIGNEDS),
                             NUMBER(MPI_UINT64_T, uint64_t, UNSIGNEDS),
                             NUMBER(MPI_FLOAT, float, REALS),
                             NUMBER(MPI_DOUBLE, double, REALS),
                             TYPE(MPI_C_FLOAT_COMPLEX, float _Complex, float, COMPLEXES),
                             TYPE(MPI_C_DOUBLE_COMPLEX, double _Complex, double, COMPLEXES),
                             NUMBER(MPI_C_BOOL, _Bool, BOOLS),
                             NUMBER(MPI_BYTE, char, RAW),
                             NUMBER(MPI_CXX_BOOL, _Bool, BOOLS),
                             TYPE(MPI_CXX_FLOAT_COMPLEX, float _Complex, float, COMPLEXES),
                             TYPE(MPI_CXX_DOUBLE_COMPLEX, double _Complex, double, COMPLEXES),
                             NUMBER(MPI_INTEGER, int, FORTRAN_INTEGERS),
                             NUMBER(MPI_INTEGER1, int8_t, FORTRAN_INTEGERS),
                             NUMBER(MPI_INTEGER2, int16_t, FORTRAN_INTEGERS),
                             NUMBER(MPI_INTEGER4, int32_t, FORTRAN_INTEGERS),
                             NUMBER(MPI_INTEGER8, int64_t, FORTRAN_INTEGERS),
                             NUMBER(MPI_REAL, float, REALS),
                             NUMBER(MPI_REAL4, float, REALS),
                             NUMBER(MPI_REAL8, double, REALS),
                             NUMBER(MPI_DOUBLE_PRECISION, double, REALS),
                             TYPE(MPI_COMPLEX, float _Complex, float, COMPLEXES),
                             TYPE(MPI_COMPLEX8, float _Complex, float, COMPLEXES),
                             TYPE(MPI_DOUBLE_COMPLEX, double _Complex, double, COMPLEXES),
                             TYPE(MPI_COMPLEX16, double _Complex, double, COMPLEXES),
                             PAIR(MPI_2INT, 4, 0),
                             PAIR(MPI_SHORT_INT, 4, 0),
                             PAIR(MPI_LONG_INT, 8, 0),
                             PAIR(MPI_FLOAT_INT, 4, 1),
                             PAIR(MPI_DOUBLE_INT, 8, 1),
                             PAIR(MPI_2INTEGER, 4, 0),
                             PAIR(MPI_2REAL, 4, 2),
                             PAIR(MPI_2DOUBLE_PRECISION, 8, 2)};
  const int numbers = INTEGERS | UNSIGNEDS, ordered = numbers | REALS;
  const int fortran = FORTRAN_INTEGERS;
  const op_case ops[] = {{"MPI_SUM", MPI_SUM, ordered | fortran | COMPLEXES},
                         {"MPI_PROD", MPI_PROD, ordered | fortran | COMPLEXES},
                         {"MPI_MIN", MPI_MIN, ordered | fortran},
                         {"MPI_MAX", MPI_MAX, ordered | fortran},
                         {"MPI_BAND", MPI_BAND, numbers | fortran | RAW},
                         {"MPI_BOR", MPI_BOR, numbers | fortran | RAW},
                         {"MPI_BXOR", MPI_BXOR, numbers | fortran | RAW},
                         {"MPI_LAND", MPI_LAND, numbers | fortran | BOOLS},
                         {"MPI_LOR", MPI_LOR, numbers | fortran | BOOLS},
                         {"MPI_LXOR", MPI_LXOR, numbers | fortran | BOOLS},
                         {"MPI_MINLOC", MPI_MINLOC, PAIRS},
                         {"MPI_MAXLOC", MPI_MAXLOC, PAIRS}};
  seed = rgt_seed();
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
      /* An MPI without C++ or Fortran has null types for those of these languages. */
      if (types[t].kind & ops[o].kinds && types[t].type != MPI_DATATYPE_NULL)
        check(&types[t], &ops[o]);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"all", test_all}, {NULL, NULL}};
  return rgt_main(argc, argv, "op_apply", tests);
}

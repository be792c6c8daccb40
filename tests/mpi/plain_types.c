/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * plain_types SEED CALLS: collectives, started and not, whose two sides have types of different
 * forms, for test_preload_types.py. An element is two ints; the forms place them with gaps, in the
 * other order, before the address given, far apart, at absolute addresses. Results are compared
 * with closed forms, and all other bytes with what they were. Prints on how many calls a process
 * was wrong, and how often an operation of the program's got vectors that are less aligned than
 * malloc's. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

enum { MOST = 16, ELEMENTS = 24576, ROOM = 1 << 20, BASE = ROOM / 4, PRIME = 10007 };
enum { DENSE, LOC, VECTOR, TURNED, BEFORE, PADDED, LEADING, APART, BOTTOM, LARGE, BACK, FORMS };

/* Where the ints of an element are, its extent, and what an operation may copy of it. */
static const struct {
  int at[2], extent, copied;
} forms[FORMS] = {[DENSE] = {{0, 4}, 8, 8},     [LOC] = {{0, 4}, 8, 8},
                  [VECTOR] = {{0, 12}, 16, 16}, [TURNED] = {{4, 0}, 8, 8},
                  [BEFORE] = {{-8, 4}, 16, 0},  [PADDED] = {{0, 4}, 32, 32},
                  [LEADING] = {{8, 12}, 16, 0}, [APART] = {{0, 4 * ELEMENTS}, 4, 0},
                  [BOTTOM] = {{0, 4}, 16, 0},   [LARGE] = {{0, 12}, 16, 16},
                  [BACK] = {{0, 4}, -8, 0}};

enum {
  BCAST,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLGATHER,
  ALLGATHERV,
  ALLTOALL,
  ALLTOALLV,
  REDUCE,
  ALLREDUCE,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  SCAN,
  EXSCAN,
  KINDS
};

typedef struct {
  int form;
  MPI_Datatype type;
  unsigned char *room, *wanted;
  void *memory; /* what MPI is given */
} side;

/* What all members draw alike, but for the forms. */
typedef struct {
  int kind, n, root, in_place, starts, op, number, counts[MOST], places[MOST];
  side send, recv;
} operation;

static int rank, size, started, misaligned;
static const side *combined; /* what an operation of the program's is given */
static MPI_Op ops[3];
static const MPI_Comm comm = MPI_COMM_WORLD;

static unsigned char *place_of(const side *s, unsigned char *room, int i, int k) {
  return room + BASE + i * forms[s->form].extent + forms[s->form].at[k];
}

/* --- operations ------------------------------------------------------------------------------ */

/* Maps x -> a x + b, one after another: not commutative. */
static void compose(const int f[2], int g[2]) {
  g[1] = (g[0] * f[1] + g[1]) % PRIME;
  g[0] = g[0] * f[0] % PRIME;
}

static void add(const int f[2], int g[2]) {
  g[0] = (g[0] + f[0]) % PRIME;
  g[1] = (g[1] + f[1]) % PRIME;
}

/* As structs are assigned: with their padding. */
static void copy_element(void *to, const void *from) {
  memmove(to, from, (size_t)forms[combined->form].copied);
}

static void combine(void (*by)(const int *, int *), char *in, char *inout, int n) {
  intptr_t low = combined->form == BOTTOM ? (intptr_t)combined->room + BASE : 0;
  misaligned += low == 0 && !started && (((uintptr_t)in | (uintptr_t)inout) & 15) != 0;
  for (int i = 0; i < n; i++) {
    char whole[32], *at[2];
    int f[2], g[2];
    for (int k = 0; k < 2; k++) {
      at[k] = inout + i * forms[combined->form].extent + forms[combined->form].at[k] + low;
      memcpy(&f[k], in + (at[k] - inout), sizeof(int));
      memcpy(&g[k], at[k], sizeof(int));
    }
    by(f, g);
    copy_element(whole, in + i * forms[combined->form].extent);
    copy_element(inout + i * forms[combined->form].extent, whole);
    for (int k = 0; k < 2; k++)
      memcpy(at[k], &g[k], sizeof(int));
  }
}

static void op_compose(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  combine(compose, in, inout, *n);
}

static void op_add(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  combine(add, in, inout, *n);
}

/* --- sides ----------------------------------------------------------------------------------- */

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint low, MPI_Aint extent) {
  MPI_Datatype result;
  MPI_Type_create_resized(type, low, extent, &result);
  MPI_Type_free(&type);
  return result;
}

static MPI_Datatype type_of(int form, const unsigned char *base) {
  MPI_Aint at[2] = {forms[form].at[0], forms[form].at[1]}, low = 0;
  MPI_Datatype type;
  int ones[2] = {1, 1};
  if (form == LOC)
    return MPI_2INT;
  if (form == BOTTOM) {
    MPI_Get_address(base, &low);
    at[0] += low;
    at[1] += low;
  }
  if (form == DENSE)
    MPI_Type_contiguous(2, MPI_INT, &type);
  else if (form == VECTOR)
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
#if MPI_VERSION >= 4
  else if (form == LARGE)
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &type);
#endif
  else
    MPI_Type_create_hindexed(2, ones, at, MPI_INT, &type);
  if (form != DENSE)
    type = resized(type, form == BEFORE ? -8 : low, forms[form].extent);
  MPI_Type_commit(&type);
  return type;
}

static void make_side(side *s, int form) {
  s->form = form;
  s->room = malloc(ROOM);
  s->wanted = malloc(ROOM);
  memset(s->room, 0xa5, ROOM);
  memset(s->wanted, 0xa5, ROOM);
  s->type = type_of(form, s->room + BASE);
  s->memory = form == BOTTOM ? MPI_BOTTOM : s->room + BASE;
}

static void free_side(side *s) {
  if (s->form != LOC)
    MPI_Type_free(&s->type);
  free(s->room);
  free(s->wanted);
}

static int value(const operation *o, int member, int i, int k) {
  return (member * 131 + o->number * 17 + i * 7 + k * 3) % 1000;
}

/* In both rooms. */
static void put(const side *s, int i, const int pair[2]) {
  for (int k = 0; k < 2; k++) {
    memcpy(place_of(s, s->room, i, k), &pair[k], sizeof(int));
    memcpy(place_of(s, s->wanted, i, k), &pair[k], sizeof(int));
  }
}

static void want(const side *s, int i, const int pair[2]) {
  for (int k = 0; k < 2; k++)
    memcpy(place_of(s, s->wanted, i, k), &pair[k], sizeof(int));
}

/* The elements [from, from + n) that a member gives, to be at `at`. */
static void put_of(const operation *o, const side *s, int at, int member, int from, int n) {
  for (int i = 0; i < n; i++)
    put(s, at + i, (int[2]){value(o, member, from + i, 0), value(o, member, from + i, 1)});
}

static void want_of(const operation *o, const side *s, int at, int member, int from, int n) {
  for (int i = 0; i < n; i++)
    want(s, at + i, (int[2]){value(o, member, from + i, 0), value(o, member, from + i, 1)});
}

/* --- one call -------------------------------------------------------------------------------- */

static int draw(int n) {
  return rand() % n;
}

static int is_vector(int kind) {
  return kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == ALLTOALLV ||
         kind == REDUCE_SCATTER;
}

/* Of a gather's and its like's blocks on the side of all. */
static int count_of(const operation *o, int member) {
  return is_vector(o->kind) ? o->counts[member] : o->n;
}

static int at_of(const operation *o, int member) {
  return is_vector(o->kind) ? o->places[member] : member * o->n;
}

static int draw_length(int most) {
  int which = draw(8);
  return which == 0   ? draw(2)
         : which == 1 ? draw(most)
         : which == 2 ? 7 + draw(most / 9)
                      : draw(20);
}

/* MPICH's started reduce-scatters write behind their memory if the operation does not commute. The
 * places are in reverse order, with gaps between them; not of a reduction's. */
static void draw_operation(operation *o, int number) {
  o->kind = draw(KINDS);
  o->n = draw_length(ELEMENTS / (o->kind == BCAST || o->kind >= REDUCE ? 8 : size) / 2);
  o->root = draw(size);
  o->starts = draw(3) == 0 && o->kind != REDUCE_SCATTER_BLOCK && o->kind != REDUCE_SCATTER;
  o->op = draw(3);
  o->number = number;
  o->in_place = draw(3) == 0;
  if (o->kind >= REDUCE)
    o->n = o->kind == REDUCE_SCATTER || o->kind == REDUCE_SCATTER_BLOCK ? o->n / size : o->n;
  for (int i = 0, at = 0; i < size; i++) {
    int member = o->kind == REDUCE_SCATTER ? i : size - 1 - i;
    o->counts[member] = o->kind == ALLTOALLV ? o->n : o->n ? (o->n + 3 * member) % (o->n + 2) : 0;
    o->places[member] = at;
    at += o->counts[member] + (o->kind != REDUCE_SCATTER);
  }
}

/* Of each member its own, but in a reduction. MPICH combines no elements that go backwards, and its
 * started reductions not all those at absolute addresses. */
static void draw_forms(operation *o) {
  int send = draw(FORMS), recv = draw(FORMS), reduces = o->kind >= REDUCE;
  int step = draw(FORMS);
  if (reduces && (send == BACK || o->op == 2))
    send = o->op == 2 ? LOC : PADDED;
  if (reduces && send == BOTTOM) {
    o->in_place = 1;
    o->starts = 0;
  }
  make_side(&o->send, reduces ? send : (send + rank * step) % FORMS);
  make_side(&o->recv, reduces ? send : (recv + rank * step) % FORMS);
}

/* An operand is placed where the call takes it from. */
static void fill_reduction(operation *o) {
  int all = o->n, gets = o->kind != REDUCE || rank == o->root;
  if (o->kind == REDUCE_SCATTER_BLOCK)
    all = size * o->n;
  if (o->kind == REDUCE_SCATTER)
    all = o->places[size - 1] + o->counts[size - 1];
  put_of(o, o->in_place && gets ? &o->recv : &o->send, 0, rank, 0, all);
}

static void want_reduction(operation *o) {
  int first = 0, n = o->n, last = size - 1;
  if (o->kind == REDUCE_SCATTER || o->kind == REDUCE_SCATTER_BLOCK) {
    first = o->kind == REDUCE_SCATTER ? o->places[rank] : rank * o->n;
    n = count_of(o, rank);
  }
  if (o->kind == SCAN || o->kind == EXSCAN)
    last = rank - (o->kind == EXSCAN);
  if (last < 0 || (o->kind == REDUCE && rank != o->root))
    return;
  for (int i = 0; i < n; i++) {
    int result[2] = {value(o, 0, first + i, 0), value(o, 0, first + i, 1)};
    for (int r = 1; r <= last; r++) {
      int next[2] = {value(o, r, first + i, 0), value(o, r, first + i, 1)};
      if (o->op == 2) { /* MPI_MINLOC */
        if (result[0] < next[0] || (result[0] == next[0] && result[1] < next[1]))
          memcpy(next, result, sizeof next);
      } else
        (o->op == 0 ? compose : add)(result, next);
      memcpy(result, next, sizeof result);
    }
    want(&o->recv, i, result);
  }
}

/* Blocks that a member gives to each are behind one another in what it gives in all. */
static void fill_movement(operation *o) {
  int me = rank == o->root, all = o->kind >= ALLGATHER,
      gives = o->kind == SCATTER || o->kind == SCATTERV;
  if (o->kind == BCAST) {
    if (me)
      put_of(o, &o->recv, 0, rank, 0, o->n);
    return;
  }
  if (o->kind == ALLTOALL || o->kind == ALLTOALLV) {
    for (int r = 0; r < size; r++)
      put_of(o, o->in_place ? &o->recv : &o->send, at_of(o, r), rank, 100 * r, count_of(o, r));
    return;
  }
  if (gives) {
    for (int r = 0; r < size && me; r++)
      put_of(o, &o->send, at_of(o, r), rank, at_of(o, r), count_of(o, r));
    return;
  }
  if (o->in_place && (all || me))
    put_of(o, &o->recv, at_of(o, rank), rank, 0, count_of(o, rank));
  else
    put_of(o, &o->send, 0, rank, 0, count_of(o, rank));
}

static void want_movement(operation *o) {
  int me = rank == o->root;
  if (o->kind == BCAST)
    want_of(o, &o->recv, 0, o->root, 0, o->n);
  else if (o->kind == SCATTER || o->kind == SCATTERV) {
    if (!me || !o->in_place)
      want_of(o, &o->recv, 0, o->root, at_of(o, rank), count_of(o, rank));
  } else
    for (int r = 0; r < size && (me || o->kind >= ALLGATHER); r++) {
      int to_each = o->kind == ALLTOALL || o->kind == ALLTOALLV;
      want_of(o, &o->recv, at_of(o, r), r, to_each ? 100 * rank : 0, count_of(o, r));
    }
}

#define CALL(name, started, ...)                                                                   \
  do {                                                                                             \
    if (o->starts)                                                                                 \
      MPI_##started(__VA_ARGS__, comm, &request);                                                  \
    else                                                                                           \
      MPI_##name(__VA_ARGS__, comm);                                                               \
  } while (0)

static void call_movement(operation *o) {
  MPI_Request request = MPI_REQUEST_NULL;
  int me = rank == o->root, all = o->kind >= ALLGATHER, n = count_of(o, rank);
  const void *send = o->in_place && (all || me) ? MPI_IN_PLACE : o->send.memory;
  void *recv = o->recv.memory, *own = o->in_place && me ? MPI_IN_PLACE : o->recv.memory;
  MPI_Datatype to = o->recv.type, from = o->send.type;
  const int *c = o->counts, *d = o->places;
  switch (o->kind) {
  case BCAST:
    CALL(Bcast, Ibcast, recv, o->n, to, o->root);
    break;
  case GATHER:
    CALL(Gather, Igather, send, n, from, recv, n, to, o->root);
    break;
  case GATHERV:
    CALL(Gatherv, Igatherv, send, n, from, recv, c, d, to, o->root);
    break;
  case SCATTER:
    CALL(Scatter, Iscatter, o->send.memory, n, from, own, n, to, o->root);
    break;
  case SCATTERV:
    CALL(Scatterv, Iscatterv, o->send.memory, c, d, from, own, n, to, o->root);
    break;
  case ALLGATHER:
    CALL(Allgather, Iallgather, send, n, from, recv, n, to);
    break;
  case ALLGATHERV:
    CALL(Allgatherv, Iallgatherv, send, n, from, recv, c, d, to);
    break;
  case ALLTOALL:
    CALL(Alltoall, Ialltoall, send, n, from, recv, n, to);
    break;
  default:
    CALL(Alltoallv, Ialltoallv, send, c, d, from, recv, c, d, to);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call_reduction(operation *o) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Op op = ops[o->op];
  int me = o->kind != REDUCE || rank == o->root;
  const void *send = o->in_place && me ? MPI_IN_PLACE : o->send.memory;
  void *recv = o->recv.memory;
  MPI_Datatype type = o->in_place && me ? o->recv.type : o->send.type;
  switch (o->kind) {
  case REDUCE:
    CALL(Reduce, Ireduce, send, recv, o->n, type, op, o->root);
    break;
  case ALLREDUCE:
    CALL(Allreduce, Iallreduce, send, recv, o->n, type, op);
    break;
  case REDUCE_SCATTER:
    CALL(Reduce_scatter, Ireduce_scatter, send, recv, o->counts, type, op);
    break;
  case REDUCE_SCATTER_BLOCK:
    CALL(Reduce_scatter_block, Ireduce_scatter_block, send, recv, o->n, type, op);
    break;
  case SCAN:
    CALL(Scan, Iscan, send, recv, o->n, type, op);
    break;
  default:
    CALL(Exscan, Iexscan, send, recv, o->n, type, op);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* What a reduction in place leaves behind its result is not told, nor is padding. */
static int is_wrong(const operation *o) {
  const side *s = &o->recv;
  int data = 0;
  if (o->kind < REDUCE)
    return memcmp(s->room, s->wanted, ROOM) != 0 || memcmp(o->send.room, o->send.wanted, ROOM) != 0;
  if ((o->kind == REDUCE && rank != o->root) || (o->kind == EXSCAN && rank == 0))
    return 0;
  for (int i = 0; i < count_of(o, rank); i++)
    for (int k = 0; k < 2; k++)
      data |= memcmp(place_of(s, s->room, i, k), place_of(s, s->wanted, i, k), sizeof(int)) != 0;
  return data || memcmp(s->room, s->wanted, BASE - 16) != 0;
}

static int call(int number) {
  operation o;
  draw_operation(&o, number);
  draw_forms(&o);
  started = o.starts;
  combined = o.in_place && (o.kind != REDUCE || rank == o.root) ? &o.recv : &o.send;
  (o.kind < REDUCE ? fill_movement : fill_reduction)(&o);
  (o.kind < REDUCE ? want_movement : want_reduction)(&o);
  (o.kind < REDUCE ? call_movement : call_reduction)(&o);
  int wrong = is_wrong(&o);
  if (wrong)
    fprintf(stderr,
            "rank %d: call %d, kind %d, %d elements of forms %d and %d, in place %d, started %d, "
            "op %d\n",
            rank, number, o.kind, o.n, o.send.form, o.recv.form, o.in_place, o.starts, o.op);
  free_side(&o.send);
  free_side(&o.recv);
  return wrong;
}

int main(int argc, char **argv) {
  int wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
  MPI_Op_create(op_compose, 0, &ops[0]);
  MPI_Op_create(op_add, 1, &ops[1]);
  ops[2] = MPI_MINLOC;
  MPI_Barrier(comm);
  for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 0); i++)
    wrong += call(i);
  plain_number("wrong", wrong);
  plain_number("misaligned", misaligned);
  MPI_Op_free(&ops[0]);
  MPI_Op_free(&ops[1]);
  MPI_Finalize();
  return 0;
}

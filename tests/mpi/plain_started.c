/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Non-blocking collectives under libregroup-mpi.so, for test_preload_started.py:
 * plain_started values: the control variables that choose MPICH's algorithms, after some calls.
 * plain_started leaves: broadcasts and vector scatters whose receivers in the middle of MPICH's
 * tree start when the others have ended: without the library, or with ranks on processors of their
 *   own, it does not end.
 * plain_started random SEED [threads]: several at once on several communicators, their results
 * against closed forms and a plain reference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

enum { MOST = 64, ROUNDS = 60, AT_ONCE = 4, LONG = 40000, PRIME = 10007 };

static int rank, size;

/* --- leaves ---------------------------------------------------------------------------------- */

static void give(int scatters) {
  int in[MOST], ones[MOST], places[MOST], out = -1, root = 0, leaf = rank % 2, word = 0;
  MPI_Request request;
  for (int i = 0; i < MOST; i++) {
    in[i] = 100 + i;
    ones[i] = 1;
    places[i] = i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i < size && rank > 0 && !leaf; i += 2)
    MPI_Recv(&word, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (scatters)
    MPI_Iscatterv(in, ones, places, MPI_INT, &out, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
  else
    MPI_Ibcast(in, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 2; i < size && leaf; i += 2)
    MPI_Send(&word, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
  plain_number(scatters ? "scattered" : "broadcast", scatters ? out : in[0]);
}

/* --- random ---------------------------------------------------------------------------------- */

enum { BCAST, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, REDUCE, SCAN, KINDS };

/* What all members draw alike. */
typedef struct {
  MPI_Comm comm;
  int kind, n, root, in_place, composes, me, members, number;
  int counts[MOST], places[MOST];
  int *send, *recv;
  MPI_Request request;
} operation;

static MPI_Op compose; /* not commutative */
static MPI_Datatype pair;

/* Pairs (a, b) as maps x -> a x + b: first the ones of lower ranks. */
static void compose_maps(void *in, void *inout, int *n, MPI_Datatype *type) {
  const int *f = in;
  int *g = inout;
  (void)type;
  for (int i = 0; i < 2 * *n; i += 2) {
    g[i + 1] = (g[i] * f[i + 1] + g[i + 1]) % PRIME;
    g[i] = g[i] * f[i] % PRIME;
  }
}

static int value(const operation *o, int member, int i) {
  return (member * 131 + o->number * 17 + i * 7) % 1000;
}

static int draw(int n) {
  return rand() % n;
}

/* Blocks of all members: member r's in a vector operation has n + r elements, or none at all. */
static void draw_operation(operation *o, MPI_Comm *comms, int kinds, int number) {
  o->comm = comms[draw(kinds)];
  o->kind = draw(KINDS);
  o->n = draw(6) == 0 ? 0 : draw(8) == 0 ? draw(LONG) : draw(300);
  o->in_place = draw(3) == 0;
  o->composes = draw(2);
  o->number = number;
  int root = draw(1 << 20);
  MPI_Comm_rank(o->comm, &o->me);
  MPI_Comm_size(o->comm, &o->members);
  o->root = root % o->members;
  for (int i = 0, at = 0; i < o->members; i++) {
    o->counts[i] = o->n ? o->n + i : 0;
    o->places[i] = at;
    at += o->counts[i];
  }
}

static int elements(const operation *o) {
  return o->members * (o->n + o->members) + 1;
}

static void fill(operation *o) {
  int most = elements(o);
  o->send = malloc(2 * (size_t)most * sizeof(int));
  o->recv = malloc(2 * (size_t)most * sizeof(int));
  for (int i = 0; i < 2 * most; i++) {
    o->send[i] = value(o, o->me, i);
    o->recv[i] = -1;
  }
  if (o->kind == BCAST && o->me == o->root)
    memcpy(o->recv, o->send, 2 * (size_t)most * sizeof(int));
  if (o->in_place && o->kind == ALLGATHER)
    memcpy(o->recv + o->me * o->n, o->send, (size_t)o->n * sizeof(int));
  if (o->in_place && o->kind == ALLGATHERV)
    memcpy(o->recv + o->places[o->me], o->send, (size_t)o->counts[o->me] * sizeof(int));
  if (o->in_place && (o->kind == REDUCE || o->kind == SCAN))
    memcpy(o->recv, o->send, 2 * (size_t)o->n * sizeof(int));
}

static void start(operation *o) {
  const void *send = o->in_place ? MPI_IN_PLACE : o->send;
  int root = o->me == o->root, mine = o->counts[o->me];
  void *recv = root && o->in_place ? MPI_IN_PLACE : o->recv;
  MPI_Datatype type = o->composes ? pair : MPI_INT;
  MPI_Op op = o->composes ? compose : MPI_SUM;
  MPI_Request *r = &o->request;
  if (o->kind == BCAST)
    MPI_Ibcast(o->recv, o->n, MPI_INT, o->root, o->comm, r);
  else if (o->kind == SCATTER)
    MPI_Iscatter(o->send, o->n, MPI_INT, recv, o->n, MPI_INT, o->root, o->comm, r);
  else if (o->kind == SCATTERV)
    MPI_Iscatterv(o->send, o->counts, o->places, MPI_INT, recv, mine, MPI_INT, o->root, o->comm, r);
  else if (o->kind == ALLGATHER)
    MPI_Iallgather(send, o->n, MPI_INT, o->recv, o->n, MPI_INT, o->comm, r);
  else if (o->kind == ALLGATHERV)
    MPI_Iallgatherv(send, mine, MPI_INT, o->recv, o->counts, o->places, MPI_INT, o->comm, r);
  else if (o->kind == REDUCE)
    MPI_Ireduce(root ? send : o->send, root ? o->recv : NULL, o->n, type, op, o->root, o->comm, r);
  else
    MPI_Iscan(send, o->recv, o->n, type, op, o->comm, r);
}

static int is_equal(const operation *o, int at, int member, int from, int n) {
  for (int i = 0; i < n; i++)
    if (o->recv[at + i] != value(o, member, from + i))
      return 0;
  return 1;
}

/* The members 0 .. last, one after another. */
static int is_combined(const operation *o, int last) {
  int wide = o->composes ? 2 : 1;
  for (int i = 0; i < o->n; i++) {
    int want[2] = {value(o, 0, wide * i), value(o, 0, wide * i + 1)};
    for (int r = 1; r <= last; r++) {
      int next[2] = {value(o, r, wide * i), value(o, r, wide * i + 1)}, one = 1;
      if (o->composes)
        compose_maps(want, next, &one, &pair);
      want[0] = o->composes ? next[0] : want[0] + next[0];
      want[1] = next[1];
    }
    if (memcmp(&o->recv[wide * i], want, (size_t)wide * sizeof(int)) != 0)
      return 0;
  }
  return 1;
}

static int is_right(const operation *o) {
  int right = 1, root = o->me == o->root;
  if (o->kind == BCAST)
    return is_equal(o, 0, o->root, 0, o->n);
  if (o->kind == SCATTER)
    return (root && o->in_place) || is_equal(o, 0, o->root, o->me * o->n, o->n);
  if (o->kind == SCATTERV)
    return (root && o->in_place) || is_equal(o, 0, o->root, o->places[o->me], o->counts[o->me]);
  for (int r = 0; r < o->members && o->kind == ALLGATHER; r++)
    right &= is_equal(o, r * o->n, r, 0, o->n);
  for (int r = 0; r < o->members && o->kind == ALLGATHERV; r++)
    right &= is_equal(o, o->places[r], r, 0, o->counts[r]);
  if (o->kind == REDUCE && root)
    return is_combined(o, o->members - 1);
  return o->kind == SCAN ? is_combined(o, o->me) : right;
}

static int wrong_of_round(MPI_Comm *comms, int kinds, int round) {
  operation o[AT_ONCE];
  int wrong = 0, turn = rank + round;
  for (int i = 0; i < AT_ONCE; i++) {
    draw_operation(&o[i], comms, kinds, round * AT_ONCE + i);
    fill(&o[i]);
    start(&o[i]);
  }
  for (int i = 0; i < AT_ONCE; i++)
    MPI_Wait(&o[(turn + i) % AT_ONCE].request, MPI_STATUS_IGNORE);
  for (int i = 0; i < AT_ONCE; i++) {
    if (!is_right(&o[i])) {
      printf("rank %d: operation %d, kind %d of %d elements is wrong\n", rank, o[i].number,
             o[i].kind, o[i].n);
      wrong = 1;
    }
    free(o[i].send);
    free(o[i].recv);
  }
  return wrong;
}

static int random_ones(const char *seed) {
  MPI_Comm comms[3] = {MPI_COMM_WORLD}; /* all draw alike: of all processes */
  MPI_Group all;
  int wrong = 0;
  srand((unsigned)atoi(seed));
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_create_group(MPI_COMM_WORLD, all, 7, &comms[2]); /* without a collective before */
  MPI_Group_free(&all);
  MPI_Op_create(compose_maps, 0, &compose);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Barrier(comms[0]);
  MPI_Barrier(comms[1]);
  for (int i = 0; i < ROUNDS; i++)
    wrong |= wrong_of_round(comms, 3, i);
  MPI_Type_free(&pair);
  MPI_Op_free(&compose);
  MPI_Comm_free(&comms[1]);
  MPI_Comm_free(&comms[2]);
  plain_number("wrong", wrong);
  return wrong;
}

/* --- values ---------------------------------------------------------------------------------- */

static void print_value(const char *name) {
  char full[128];
  int index, count, value;
  MPI_T_cvar_handle handle;
  snprintf(full, sizeof full, "MPIR_CVAR_%s_INTRA_ALGORITHM", name);
  if (MPI_T_cvar_get_index(full, &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
    MPI_T_cvar_read(handle, &value);
    if (rank == 0)
      printf("value %s %d\n", name, value);
    MPI_T_cvar_handle_free(&handle);
  }
}

static void values(void) {
  static const char *const names[] = {"IBCAST", "ISCATTERV", "IREDUCE", NULL};
  int level;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < KINDS; i++) {
    operation o = {.comm = MPI_COMM_WORLD, .kind = i, .n = 1, .me = rank, .members = size};
    for (int k = 0; k < size; k++) {
      o.counts[k] = 1;
      o.places[k] = k;
    }
    fill(&o);
    start(&o);
    MPI_Wait(&o.request, MPI_STATUS_IGNORE);
    free(o.send);
    free(o.recv);
  }
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  for (int i = 0; names[i]; i++)
    print_value(names[i]);
  MPI_T_finalize();
}

/* With a fourth argument process 1 has threads that may call MPI at the same time. */
static void start_mpi(int *argc, char ***argv) {
  const char *mine = getenv("PMI_RANK");
  int level = *argc == 4 && mine && atoi(mine) == 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, level, &level);
}

int main(int argc, char **argv) {
  int wrong = 0;
  start_mpi(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc >= 3)
    wrong = random_ones(argv[2]);
  else if (argc == 2 && !strcmp(argv[1], "values"))
    values();
  else
    for (int scatters = 0; scatters < 2; scatters++)
      give(scatters);
  MPI_Finalize();
  return wrong;
}

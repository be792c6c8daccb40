/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Windows: the three ways to get memory, every kind of epoch, all operations on all types, derived
 * types, what a window tells of itself. Each result has a closed form or is compared with what MPI
 * does in the caller's own memory; the program prints how many were wrong. Argument: a seed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

#define N 128 /* doubles of each process */

static int rank, size, wrong, ever_wrong;

static void check(int good) {
  wrong += !good;
}

static void end_part(const char *name) {
  plain_number(name, wrong);
  ever_wrong |= wrong;
  wrong = 0;
}

typedef struct {
  MPI_Win win;
  double *base;
  int own; /* memory of MPI_Alloc_mem */
} window;

static window make_window(int flavor) {
  window w = {MPI_WIN_NULL, NULL, 0};
  MPI_Aint bytes = N * sizeof(double);
  plain_called("rma", 0);
  if (flavor == MPI_WIN_FLAVOR_ALLOCATE)
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win);
  else if (flavor == MPI_WIN_FLAVOR_SHARED)
    MPI_Win_allocate_shared(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win);
  else {
    w.own = MPI_Alloc_mem(bytes, MPI_INFO_NULL, &w.base) == MPI_SUCCESS;
    MPI_Win_create(w.base, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
  }
  return w;
}

static void free_window(window *w) {
  MPI_Win_free(&w->win);
  check(w->win == MPI_WIN_NULL);
  if (w->own)
    MPI_Free_mem(w->base);
}

static void fill(const window *w) {
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < N; i++)
    w->base[i] = rank * N + i;
  MPI_Win_fence(0, w->win);
}

/* --- epochs -------------------------------------------------------------------------------- */

static void try_fence(const window *w) {
  double got[N], sent[N];
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  fill(w);
  MPI_Get(got, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, w->win);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < N; i++) {
    check(got[i] == next * N + i);
    sent[i] = -got[i] - rank;
  }
  MPI_Put(sent, N / 2, MPI_DOUBLE, next, N / 2, N / 2, MPI_DOUBLE, w->win);
  MPI_Put(sent, 0, MPI_DOUBLE, next, 0, 0, MPI_DOUBLE, w->win);
  MPI_Put(sent, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, w->win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
  for (int i = 0; i < N / 2; i++)
    check(w->base[N / 2 + i] == -(double)(rank * N + i) - before);
}

static void start_and_post(const window *w, double *sent) {
  int next = (rank + 1) % size, before = (rank + size - 1) % size, flag = 0;
  MPI_Group all, to, from;
  MPI_Win_get_group(w->win, &all);
  MPI_Group_incl(all, 1, &next, &to);
  MPI_Group_incl(all, 1, &before, &from);
  for (int k = 0; k < 3; k++) {
    MPI_Win_post(from, 0, w->win);
    MPI_Win_start(to, 0, w->win);
    *sent = 1000 * k + rank;
    MPI_Put(sent, 1, MPI_DOUBLE, next, k, 1, MPI_DOUBLE, w->win);
    MPI_Win_complete(w->win);
    if (k == 1)
      while (!flag)
        MPI_Win_test(w->win, &flag);
    else
      MPI_Win_wait(w->win);
    check(w->base[k] == 1000 * k + before);
  }
  MPI_Group_free(&to);
  MPI_Group_free(&from);
  MPI_Group_free(&all);
}

/* Each process adds to the same elements of all. */
static void try_locks(const window *w) {
  const double one = 1, two[2] = {2, 3};
  double got = -1;
  fill(w);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
  for (int k = 0; k < 10; k++)
    for (int to = 0; to < size; to++) {
      MPI_Win_lock(k % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, w->win);
      MPI_Accumulate(&one, 1, MPI_DOUBLE, to, 1, 1, MPI_DOUBLE, MPI_SUM, w->win);
      MPI_Win_unlock(to, w->win);
    }
  MPI_Win_lock_all(0, w->win);
  for (int to = 0; to < size; to++) {
    MPI_Accumulate(two, 2, MPI_DOUBLE, to, 2, 2, MPI_DOUBLE, MPI_SUM, w->win);
    MPI_Win_flush_local(to, w->win);
  }
  MPI_Win_flush_all(w->win);
  MPI_Win_unlock_all(w->win);
  MPI_Win_fence(0, w->win);
  check(w->base[1] == rank * N + 1 + 10 * size && w->base[2] == rank * N + 2 + 2 * size &&
        w->base[3] == rank * N + 3 + 3 * size);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
  /* An exclusive lock makes reading and writing one operation. */
  for (int k = 0; k < 10; k++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
    MPI_Get(&got, 1, MPI_DOUBLE, 0, 5, 1, MPI_DOUBLE, w->win);
    MPI_Win_flush(0, w->win);
    got += 1;
    MPI_Put(&got, 1, MPI_DOUBLE, 0, 5, 1, MPI_DOUBLE, w->win);
    MPI_Win_unlock(0, w->win);
  }
  MPI_Win_fence(0, w->win);
  check(rank != 0 || w->base[5] == 5 + 10 * size);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
}

/* --- single elements, requests ------------------------------------------------------------- */

/* Counters of rank 0: numbers are given out once each, and locks are won by one process each. */
static void try_counters(const window *w) {
  int64_t got, sum = 0, all, zero = 0, mine = rank + 1, one = 1;
  fill(w);
  memset(w->base, 0, N * sizeof *w->base);
  MPI_Win_fence(0, w->win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
  MPI_Win_lock_all(0, w->win);
  for (int k = 0; k < 20; k++) {
    MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, 0, MPI_SUM, w->win);
    MPI_Win_flush(0, w->win);
    sum += got;
  }
  MPI_Compare_and_swap(&mine, &zero, &got, MPI_INT64_T, 0, 1, w->win);
  MPI_Win_flush(0, w->win);
  int won = got == 0;
  MPI_Fetch_and_op(NULL, &got, MPI_INT64_T, 0, 1, MPI_NO_OP, w->win);
  MPI_Win_flush(0, w->win);
  check(got >= 1 && got <= size && (got == mine) == won);
  MPI_Win_unlock_all(w->win);
  plain_called("allreduce", 0);
  MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  check(all == (int64_t)20 * size * (20 * size - 1) / 2);
}

static void try_requests(const window *w) {
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  double sent[3] = {rank, rank + 1, rank + 2}, got[3] = {0}, seen[3] = {0};
  MPI_Request r[3];
  fill(w);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
  MPI_Win_lock_all(0, w->win);
  MPI_Rput(sent, 3, MPI_DOUBLE, next, 0, 3, MPI_DOUBLE, w->win, &r[0]);
  MPI_Raccumulate(sent, 3, MPI_DOUBLE, next, 10, 3, MPI_DOUBLE, MPI_SUM, w->win, &r[1]);
  MPI_Rget_accumulate(sent, 3, MPI_DOUBLE, got, 3, MPI_DOUBLE, next, 20, 3, MPI_DOUBLE, MPI_REPLACE,
                      w->win, &r[2]);
  for (int i = 0; i < 3; i++)
    MPI_Wait(&r[i], MPI_STATUS_IGNORE);
  MPI_Win_flush(next, w->win);
  MPI_Rget(seen, 3, MPI_DOUBLE, next, 10, 3, MPI_DOUBLE, w->win, &r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(w->win);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < 3; i++)
    check(w->base[i] == before + i && w->base[10 + i] == rank * N + 10 + i + before + i &&
          w->base[20 + i] == before + i && got[i] == next * N + 20 + i &&
          seen[i] == next * N + 10 + i + rank + i);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
}

/* --- all operations on all types ----------------------------------------------------------- */

enum { INTEGER = 1, REAL = 2, COMPLEX = 4, LOGICAL = 8, BYTES = 16, PAIR = 32 };

static void fill_elements(char *memory, int bytes, int is) {
  for (int i = 0; i < bytes; i++)
    memory[i] = (char)(is == LOGICAL ? i % 2 : 0);
  if (is == INTEGER || is == BYTES)
    for (int i = 0; i < bytes; i++)
      memory[i] = (char)(rand() & 0x3f);
}

/* The reals of a type of that size. */
static void fill_reals(void *memory, int bytes, int one) {
  for (int i = 0; i < bytes / one; i++) {
    double value = rand() % 100 / 4.0;
    if (one == 4)
      ((float *)memory)[i] = (float)value;
    else if (one == 8)
      ((double *)memory)[i] = value;
    else
      ((long double *)memory)[i] = value;
  }
}

typedef struct {
  MPI_Datatype type;
  int is, one; /* bytes of one real */
} kind;

/* Rank 0 combines elements at the last rank and in its own memory. */
static void try_operation(const window *w, const kind *k, MPI_Op op, int fetch) {
  enum { COUNT = 3 };
  char here[COUNT * 32] = {0}, there[COUNT * 32] = {0}, want[COUNT * 32], before[COUNT * 32] = {0};
  MPI_Aint low, extent;
  int last = size - 1;
  MPI_Type_get_extent(k->type, &low, &extent);
  int bytes = (int)extent * COUNT;
  if (k->is == REAL || k->is == COMPLEX) {
    fill_reals(here, bytes, k->one);
    fill_reals(there, bytes, k->one);
  } else {
    fill_elements(here, bytes, k->is);
    fill_elements(there, bytes, k->is);
  }
  MPI_Put(there, bytes, MPI_BYTE, last, 0, bytes, MPI_BYTE, w->win);
  MPI_Win_flush(last, w->win);
  if (fetch)
    MPI_Get_accumulate(here, COUNT, k->type, before, COUNT, k->type, last, 0, COUNT, k->type, op,
                       w->win);
  else
    MPI_Accumulate(here, COUNT, k->type, last, 0, COUNT, k->type, op, w->win);
  MPI_Win_flush(last, w->win);
  memcpy(want, there, sizeof want);
  if (op == MPI_REPLACE)
    memcpy(want, here, sizeof want);
  else if (op != MPI_NO_OP)
    MPI_Reduce_local(here, want, COUNT, k->type, op);
  check(!fetch || memcmp(before, there, (size_t)bytes) == 0);
  MPI_Get(before, bytes, MPI_BYTE, last, 0, bytes, MPI_BYTE, w->win);
  MPI_Win_flush(last, w->win);
  check(memcmp(before, want, (size_t)bytes) == 0);
}

static void try_operations(const window *w) {
  const kind kinds[] = {{MPI_INT, INTEGER, 0},
                        {MPI_LONG, INTEGER, 0},
                        {MPI_SHORT, INTEGER, 0},
                        {MPI_SIGNED_CHAR, INTEGER, 0},
                        {MPI_UNSIGNED, INTEGER, 0},
                        {MPI_UNSIGNED_CHAR, INTEGER, 0},
                        {MPI_UNSIGNED_SHORT, INTEGER, 0},
                        {MPI_UNSIGNED_LONG, INTEGER, 0},
                        {MPI_LONG_LONG, INTEGER, 0},
                        {MPI_INT8_T, INTEGER, 0},
                        {MPI_INT16_T, INTEGER, 0},
                        {MPI_INT32_T, INTEGER, 0},
                        {MPI_UINT64_T, INTEGER, 0},
                        {MPI_AINT, INTEGER, 0},
                        {MPI_COUNT, INTEGER, 0},
                        {MPI_OFFSET, INTEGER, 0},
                        {MPI_FLOAT, REAL, 4},
                        {MPI_DOUBLE, REAL, 8},
                        {MPI_LONG_DOUBLE, REAL, 16},
                        {MPI_C_FLOAT_COMPLEX, COMPLEX, 4},
                        {MPI_C_DOUBLE_COMPLEX, COMPLEX, 8},
                        {MPI_C_BOOL, LOGICAL, 0},
                        {MPI_BYTE, BYTES, 0},
                        {MPI_FLOAT_INT, PAIR, 0},
                        {MPI_DOUBLE_INT, PAIR, 0},
                        {MPI_LONG_INT, PAIR, 0},
                        {MPI_2INT, PAIR, 0},
                        {MPI_SHORT_INT, PAIR, 0},
                        {MPI_LONG_DOUBLE_INT, PAIR, 0}};
  const struct {
    MPI_Op op;
    int takes;
  } ops[] = {{MPI_SUM, INTEGER | REAL | COMPLEX},
             {MPI_PROD, INTEGER | REAL | COMPLEX},
             {MPI_MAX, INTEGER | REAL},
             {MPI_MIN, INTEGER | REAL},
             {MPI_BAND, INTEGER | BYTES},
             {MPI_BOR, INTEGER | BYTES},
             {MPI_BXOR, INTEGER | BYTES},
             {MPI_LAND, INTEGER | LOGICAL},
             {MPI_LOR, INTEGER | LOGICAL},
             {MPI_LXOR, INTEGER | LOGICAL},
             {MPI_MAXLOC, PAIR},
             {MPI_MINLOC, PAIR},
             {MPI_REPLACE, 63},
             {MPI_NO_OP, 63}};
  MPI_Win_lock_all(0, w->win);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && rank == 0; i++)
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
      if (ops[o].takes & kinds[i].is)
        for (int fetch = ops[o].op == MPI_NO_OP; fetch < 2; fetch++)
          try_operation(w, &kinds[i], ops[o].op, fetch);
  MPI_Win_unlock_all(w->win);
}

/* --- derived types ------------------------------------------------------------------------- */

/* A type of 15 doubles in as many parts and 15 parts without elements. */
static MPI_Datatype type_of_parts(int which) {
  enum { PARTS = 30 };
  int lengths[PARTS], displs[PARTS];
  MPI_Aint bytes[PARTS];
  MPI_Datatype parts[PARTS], made = MPI_DATATYPE_NULL;
  for (int i = 0; i < PARTS; i++) {
    lengths[i] = i % 2;
    displs[i] = i + rand() % 2;
    bytes[i] = displs[i] * (MPI_Aint)sizeof(double);
    parts[i] = MPI_DOUBLE;
  }
  if (which == 0)
    MPI_Type_indexed(PARTS, lengths, displs, MPI_DOUBLE, &made);
  if (which == 1)
    MPI_Type_create_hindexed(PARTS, lengths, bytes, MPI_DOUBLE, &made);
  if (which == 2)
    MPI_Type_create_struct(PARTS, lengths, bytes, parts, &made);
  return made;
}

/* A type of up to 16 doubles in a range of 48, of one of the kinds that MPI makes. */
static MPI_Datatype random_type(int which) {
  const int full[2] = {6, 8}, part[2] = {1 + rand() % 4, 1 + rand() % 4}, from[2] = {1, 3};
  const int lengths[3] = {1 + rand() % 3, rand() % 3, 2}, displs[3] = {20, 3 + rand() % 5, 11};
  const int distribs[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int args[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 2};
  const MPI_Aint bytes[3] = {160, 24 + 8 * (rand() % 5), 88};
  const MPI_Datatype parts[3] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE};
  MPI_Datatype inner, made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1 + rand() % 2, MPI_DOUBLE, &inner);
  if (which == 0)
    MPI_Type_create_subarray(2, full, part, from, MPI_ORDER_FORTRAN, MPI_DOUBLE, &made);
  if (which == 1)
    MPI_Type_vector(3, 2, 4 + rand() % 3, inner, &made);
  if (which == 2)
    MPI_Type_indexed(3, lengths, displs, MPI_DOUBLE, &made);
  if (which == 3)
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_DOUBLE, &made);
  if (which == 4)
    MPI_Type_create_struct(3, lengths, bytes, parts, &made);
  if (which == 5)
    MPI_Type_create_darray(4, rand() % 4, 2, full, distribs, args, grid, MPI_ORDER_C, MPI_DOUBLE,
                           &made);
  if (which == 6)
    MPI_Type_create_hvector(4, 1, 40, inner, &made);
  if (which == 7)
    MPI_Type_create_indexed_block(3, 2, displs, MPI_DOUBLE, &made);
  if (which == 8)
    MPI_Type_create_resized(inner, 0, 24, &made);
  if (which == 9)
    MPI_Type_dup(inner, &made);
  if (which >= 10)
    made = type_of_parts(which - 10);
  MPI_Type_free(&inner);
  MPI_Type_commit(&made);
  return made;
}

/* What MPI itself does between two memories of the caller. */
static void move_locally(const double *from, MPI_Datatype from_type, double *to,
                         MPI_Datatype to_type, int n) {
  double dense[N];
  int at = 0, bytes = n * (int)sizeof(double), one;
  MPI_Type_size(from_type, &one);
  MPI_Pack(from, bytes / one, from_type, dense, bytes, &at, MPI_COMM_SELF);
  at = 0;
  MPI_Type_size(to_type, &one);
  MPI_Unpack(dense, bytes, &at, to, bytes / one, to_type, MPI_COMM_SELF);
}

static void try_type(const window *w, MPI_Datatype type, int action) {
  double here[N], there[N], want[N], got[N];
  int bytes, last = size - 1;
  MPI_Type_size(type, &bytes);
  int n = bytes / (int)sizeof(double);
  for (int i = 0; i < N; i++) {
    here[i] = want[i] = rand() % 1000;
    there[i] = rand() % 1000;
  }
  MPI_Put(there, N, MPI_DOUBLE, last, 0, N, MPI_DOUBLE, w->win);
  MPI_Win_flush(last, w->win);
  if (action == 0) { /* dense to spread */
    MPI_Put(here, n, MPI_DOUBLE, last, 2, 1, type, w->win);
    memcpy(want, there, sizeof want);
    move_locally(here, MPI_DOUBLE, want + 2, type, n);
  } else if (action == 1) { /* spread to dense, and back to the same places */
    MPI_Get(here, 1, type, last, 2, 1, type, w->win);
    move_locally(there + 2, type, want, type, n);
  } else { /* spread at the origin */
    MPI_Accumulate(here, 1, type, last, 1, n, MPI_DOUBLE, MPI_SUM, w->win);
    memset(want, 0, sizeof want);
    move_locally(here, type, want + 1, MPI_DOUBLE, n);
    for (int i = 0; i < N; i++)
      want[i] += there[i];
  }
  MPI_Win_flush(last, w->win);
  MPI_Get(got, N, MPI_DOUBLE, last, 0, N, MPI_DOUBLE, w->win);
  MPI_Win_flush(last, w->win);
  check(memcmp(action == 1 ? here : got, want, sizeof want) == 0);
}

static void try_types(const window *w) {
  MPI_Win_lock_all(0, w->win);
  for (int k = 0; k < 60 && rank == 0; k++) {
    MPI_Datatype type = random_type(k % 13);
    for (int action = 0; action < 3; action++)
      try_type(w, type, action);
    MPI_Type_free(&type);
  }
  MPI_Win_unlock_all(w->win);
}

/* --- what a window tells ------------------------------------------------------------------- */

static int deleted;

static int count_deleted(MPI_Win win, int key, void *value, void *extra) {
  (void)win, (void)key, (void)extra;
  deleted += *(int *)value;
  return MPI_SUCCESS;
}

static void try_attributes(window *w, int flavor) {
  static int value = 7;
  void *found;
  char name[MPI_MAX_OBJECT_NAME];
  int flag = 0, length, key, unit, same, i = 0;
  MPI_Aint bytes;
  MPI_Group all, world;
  MPI_Win_get_attr(w->win, MPI_WIN_BASE, &found, &flag);
  check(flag && found == w->base);
  MPI_Win_get_attr(w->win, MPI_WIN_SIZE, &found, &flag);
  check(flag && *(MPI_Aint *)found == N * sizeof(double));
  MPI_Win_get_attr(w->win, MPI_WIN_DISP_UNIT, &found, &flag);
  check(flag && *(int *)found == sizeof(double));
  MPI_Win_get_attr(w->win, MPI_WIN_CREATE_FLAVOR, &found, &flag);
  check(flag && *(int *)found == flavor);
  MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &found, &flag);
  check(flag && *(int *)found == MPI_WIN_UNIFIED);
  MPI_Win_set_name(w->win, "a window");
  MPI_Win_get_name(w->win, name, &length);
  check(length == 8 && strcmp(name, "a window") == 0);
  MPI_Win_get_group(w->win, &all);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(all, world, &same);
  check(same == MPI_IDENT);
  MPI_Group_free(&all);
  MPI_Group_free(&world);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deleted, &key, NULL);
  MPI_Win_set_attr(w->win, key, &value);
  MPI_Win_get_attr(w->win, key, &found, &flag);
  check(flag && found == &value);
  MPI_Win_free_keyval(&key);
  if (flavor == MPI_WIN_FLAVOR_SHARED)
    for (i = 0; i < size; i++) {
      MPI_Win_shared_query(w->win, i, &bytes, &unit, &found);
      check(bytes == N * sizeof(double) && unit == sizeof(double) &&
            (double *)found == w->base + (i - rank) * N);
    }
}

static void try_info(const window *w) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int flag = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "false");
  MPI_Win_set_info(w->win, info);
  MPI_Info_free(&info);
  MPI_Win_get_info(w->win, &info);
  MPI_Info_get(info, "no_locks", MPI_MAX_INFO_VAL, value, &flag);
  check(flag && strcmp(value, "false") == 0);
  MPI_Info_free(&info);
}

/* Windows that MPI serves beside: on memory of the program's own, and dynamic ones. */
static void try_others(void) {
  static double memory[8];
  double got = 0, sent = rank;
  MPI_Win own, dynamic;
  plain_called("passed", 0);
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &own);
  plain_called("passed", 0);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_fence(0, own);
  MPI_Put(&sent, 1, MPI_DOUBLE, (rank + 1) % size, 3, 1, MPI_DOUBLE, own);
  MPI_Win_fence(0, own);
  MPI_Get(&got, 1, MPI_DOUBLE, rank, 3, 1, MPI_DOUBLE, own);
  MPI_Win_fence(0, own);
  check(got == (rank + size - 1) % size);
  MPI_Win_free(&dynamic);
  MPI_Win_free(&own);
}

static void try_flavor(int flavor) {
  double sent;
  window w = make_window(flavor);
  try_fence(&w);
  end_part("fence");
  fill(&w);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
  start_and_post(&w, &sent);
  end_part("post and start");
  try_locks(&w);
  end_part("locks");
  try_counters(&w);
  end_part("counters");
  try_requests(&w);
  end_part("requests");
  try_operations(&w);
  end_part("operations");
  try_types(&w);
  end_part("types");
  try_attributes(&w, flavor);
  try_info(&w);
  free_window(&w);
  check(deleted == 7);
  deleted = 0;
  end_part("attributes");
}

static int is_one_node(void) {
  MPI_Comm node;
  int n;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &n);
  MPI_Comm_free(&node);
  return n == size;
}

int main(int argc, char **argv) {
  unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  srand(seed);
  try_flavor(MPI_WIN_FLAVOR_CREATE);
  try_flavor(MPI_WIN_FLAVOR_ALLOCATE);
  if (is_one_node())
    try_flavor(MPI_WIN_FLAVOR_SHARED);
  try_others();
  end_part("others");
  plain_counts();
  MPI_Finalize();
  return ever_wrong != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Random accesses to windows, round after round, against a model of all members' memory that each
 * process keeps. All processes draw the same accesses: in a round each block of each member's
 * memory is changed or read by one process, or accumulated to by all. Arguments: a seed, and how
 * many rounds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

enum { BLOCKS = 10, BLOCK = 16, N = BLOCKS * BLOCK, TYPES = 5 };

static int rank, size, wrong, ever_wrong;
static uint64_t drawn;
static double *model, *sent, *got; /* of all members: size * N */
static MPI_Datatype types[TYPES];
static int elements[TYPES][BLOCK], counts[TYPES];

/* The same on all processes, if all have drawn as often. */
static unsigned draw(unsigned below) {
  drawn = drawn * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(drawn >> 33) % below;
}

static void barrier(void) {
  plain_called("barrier", 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void check(int good) {
  wrong += !good;
}

/* --- types of elements of a block ---------------------------------------------------------- */

static void make_types(void) {
  const int displs[] = {0, 3, 9, 10, 15}, lengths[] = {2, 0, 3}, at[] = {12, 1, 5};
  const int full[] = {4, 4}, part[] = {2, 3}, from[] = {1, 1};
  double index[BLOCK], dense[BLOCK];
  MPI_Type_contiguous(BLOCK, MPI_DOUBLE, &types[0]);
  MPI_Type_vector(4, 2, 4, MPI_DOUBLE, &types[1]);
  MPI_Type_create_indexed_block(5, 1, displs, MPI_DOUBLE, &types[2]);
  MPI_Type_create_subarray(2, full, part, from, MPI_ORDER_C, MPI_DOUBLE, &types[3]);
  MPI_Type_indexed(3, lengths, at, MPI_DOUBLE, &types[4]);
  for (int i = 0; i < BLOCK; i++)
    index[i] = i;
  for (int t = 0; t < TYPES; t++) {
    int bytes, position = 0;
    MPI_Type_commit(&types[t]);
    MPI_Type_size(types[t], &bytes);
    counts[t] = bytes / (int)sizeof(double);
    MPI_Pack(index, 1, types[t], dense, sizeof dense, &position, MPI_COMM_SELF);
    for (int i = 0; i < counts[t]; i++)
      elements[t][i] = (int)dense[i];
  }
}

/* --- one access ---------------------------------------------------------------------------- */

typedef enum { NOTHING, PUT, GET, SUM, MAX, REPLACE, FETCH, READ, ADD_ONE, KINDS } kind;

/* spread: the elements lie at the origin as at the target, or else side by side. */
typedef struct {
  kind kind;
  int target, block, origin, type, spread;
} access;

static access draw_access(int target, int block) {
  access a = {(kind)draw(KINDS), target, block, 0, 0, 0};
  a.origin = (int)draw((unsigned)size);
  a.type = (int)draw(TYPES);
  a.spread = (int)draw(2);
  return a;
}

static int by_all(const access *a) {
  return a->kind == SUM || a->kind == MAX;
}

static double value_of(const access *a, int origin, int i) {
  return (a->target * 31 + a->block * 7 + origin * 13 + i * 5) % 97 - 48;
}

/* Where element i is at the origin. */
static int place(const access *a, int i) {
  return a->spread ? elements[a->type][i] : i;
}

static MPI_Op op_of(const access *a) {
  return a->kind == MAX       ? MPI_MAX
         : a->kind == REPLACE ? MPI_REPLACE
         : a->kind == READ    ? MPI_NO_OP
                              : MPI_SUM;
}

static void issue(const access *a, MPI_Win win) {
  int64_t offset = (int64_t)a->target * N + a->block * BLOCK;
  double *from = sent + offset, *to = got + offset;
  MPI_Datatype theirs = types[a->type], ours = a->spread ? theirs : MPI_DOUBLE;
  int n = a->spread ? 1 : counts[a->type], target = a->target;
  MPI_Aint disp = a->block * BLOCK;
  if (a->kind == NOTHING || (!by_all(a) && a->origin != rank))
    return;
  for (int i = 0; i < BLOCK; i++)
    from[i] = to[i] = -1000;
  for (int i = 0; i < counts[a->type]; i++)
    from[place(a, i)] = value_of(a, rank, i);
  if (a->kind == PUT)
    MPI_Put(from, n, ours, target, disp, 1, theirs, win);
  else if (a->kind == GET)
    MPI_Get(to, n, ours, target, disp, 1, theirs, win);
  else if (a->kind == FETCH || a->kind == READ)
    MPI_Get_accumulate(from, n, ours, to, n, ours, target, disp, 1, theirs, op_of(a), win);
  else if (a->kind == ADD_ONE)
    MPI_Fetch_and_op(&from[place(a, 0)], to, MPI_DOUBLE, target, disp, MPI_SUM, win);
  else
    MPI_Accumulate(from, n, ours, target, disp, 1, theirs, op_of(a), win);
}

/* What the access has brought, and what it does in the model. */
static void finish(const access *a) {
  int64_t offset = (int64_t)a->target * N + a->block * BLOCK;
  double *there = model + offset;
  int reads = a->kind == GET || a->kind == FETCH || a->kind == READ;
  for (int i = 0; reads && a->origin == rank && i < counts[a->type]; i++)
    check(got[offset + place(a, i)] == there[elements[a->type][i]]);
  if (a->kind == ADD_ONE) {
    check(a->origin != rank || got[offset] == there[0]);
    there[0] += value_of(a, a->origin, 0);
  }
  for (int i = 0; i < counts[a->type]; i++) {
    double *element = &there[elements[a->type][i]];
    for (int origin = 0; origin < size; origin++) {
      double value = value_of(a, origin, i);
      if (by_all(a))
        *element = a->kind == SUM ? *element + value : *element > value ? *element : value;
    }
    if (a->kind == PUT || a->kind == REPLACE)
      *element = value_of(a, a->origin, i);
    if (a->kind == FETCH)
      *element += value_of(a, a->origin, i);
  }
}

/* --- a round ------------------------------------------------------------------------------- */

static void issue_at(const access *all, int target, MPI_Win win) {
  for (int b = 0; b < BLOCKS; b++)
    issue(&all[target * BLOCKS + b], win);
}

static void issue_all(const access *all, MPI_Win win) {
  for (int t = 0; t < size; t++)
    issue_at(all, (rank + t) % size, win);
}

static void with_locks(const access *all, MPI_Win win, int type) {
  for (int t = 0; t < size; t++) {
    int target = (rank + t) % size;
    MPI_Win_lock(type, target, 0, win);
    issue_at(all, target, win);
    MPI_Win_unlock(target, win);
  }
}

static void finish_all(const access *all) {
  for (int i = 0; i < size * BLOCKS; i++)
    finish(&all[i]);
}

/* What is flushed is complete, in the middle of an epoch. */
static void with_flushes(const access *all, const double *base, MPI_Win win, int assertion) {
  int one_by_one = (int)draw(2);
  MPI_Win_lock_all(assertion, win);
  issue_all(all, win);
  for (int t = 0; t < size; t++) {
    MPI_Win_flush_local(t, win);
    if (one_by_one)
      MPI_Win_flush(t, win);
  }
  if (!one_by_one)
    MPI_Win_flush_all(win);
  barrier();
  finish_all(all);
  MPI_Win_sync(win);
  check(memcmp(base, model + (int64_t)rank * N, N * sizeof *base) == 0);
  MPI_Win_unlock_all(win);
}

static void with_group(const access *all, MPI_Win win) {
  MPI_Group group;
  MPI_Win_get_group(win, &group);
  MPI_Win_post(group, 0, win);
  MPI_Win_start(group, 0, win);
  issue_all(all, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Group_free(&group);
}

static void make_epoch(const access *all, const double *base, MPI_Win win) {
  unsigned way = draw(6);
  if (way >= 4) {
    with_flushes(all, base, win, way == 4 ? 0 : MPI_MODE_NOCHECK);
    barrier();
    return;
  }
  if (way == 0) {
    MPI_Win_fence(draw(2) ? MPI_MODE_NOPRECEDE : 0, win);
    issue_all(all, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  } else if (way == 1)
    with_locks(all, win, MPI_LOCK_SHARED);
  else if (way == 2)
    with_locks(all, win, MPI_LOCK_EXCLUSIVE);
  else
    with_group(all, win);
  barrier();
  finish_all(all);
}

/* The caller's memory as it sees it, and that of another one. */
static void compare(const double *base, MPI_Win win, int flavor) {
  int other = (rank + 1 + (int)draw((unsigned)size)) % size;
  double *there = got + (int64_t)other * N;
  MPI_Request request;
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  MPI_Win_sync(win);
  check(memcmp(base, model + (int64_t)rank * N, N * sizeof *base) == 0);
  MPI_Win_unlock(rank, win);
  MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
  if (flavor == MPI_WIN_FLAVOR_CREATE) {
    MPI_Rget(there, N, MPI_DOUBLE, other, 0, N, MPI_DOUBLE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else
    MPI_Get(there, N, MPI_DOUBLE, other, 0, N, MPI_DOUBLE, win);
  MPI_Win_unlock(other, win);
  check(memcmp(there, model + (int64_t)other * N, N * sizeof *base) == 0);
}

static void try_round(access *all, const double *base, MPI_Win win, int flavor) {
  for (int t = 0; t < size; t++)
    for (int b = 0; b < BLOCKS; b++)
      all[t * BLOCKS + b] = draw_access(t, b);
  barrier();
  make_epoch(all, base, win);
  compare(base, win, flavor);
}

/* --- windows ------------------------------------------------------------------------------- */

/* own: the memory of all members, of those with even ranks, or of none is their own (malloc). */
static void try_window(const char *name, const char *counted, int flavor, int own, int rounds) {
  MPI_Aint bytes = N * sizeof(double);
  MPI_Win win;
  double *base = NULL, *mine = NULL;
  int is_own = own == 2 || (own == 1 && rank % 2 == 0), *attribute, flag;
  access *all = malloc((size_t)size * BLOCKS * sizeof *all);
  plain_called(counted, 0);
  if (is_own)
    base = mine = aligned_alloc(64, (size_t)bytes);
  else if (flavor == MPI_WIN_FLAVOR_CREATE)
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base);
  if (flavor == MPI_WIN_FLAVOR_CREATE)
    MPI_Win_create(base, bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  else
    MPI_Win_allocate(bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &attribute, &flag);
  check(flag && *attribute == flavor);
  memset(base, 0, (size_t)bytes);
  memset(model, 0, (size_t)size * (size_t)bytes);
  for (int i = 0; i < rounds; i++)
    try_round(all, base, win, flavor);
  MPI_Win_free(&win);
  if (flavor == MPI_WIN_FLAVOR_CREATE && !is_own)
    MPI_Free_mem(base);
  free(mine);
  free(all);
  plain_number(name, wrong);
  ever_wrong |= wrong;
  wrong = 0;
}

int main(int argc, char **argv) {
  int rounds = argc > 2 ? atoi(argv[2]) : 20;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  drawn = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  size_t all = (size_t)size * N;
  model = malloc(3 * all * sizeof *model);
  sent = model + all;
  got = sent + all;
  make_types();
  try_window("create", "rma", MPI_WIN_FLAVOR_CREATE, 0, rounds);
  try_window("allocate", "rma", MPI_WIN_FLAVOR_ALLOCATE, 0, rounds);
  try_window("of both", "passed", MPI_WIN_FLAVOR_CREATE, 1, rounds);
  try_window("own", "passed", MPI_WIN_FLAVOR_CREATE, 2, rounds);
  for (int t = 0; t < TYPES; t++)
    MPI_Type_free(&types[t]);
  free(model);
  plain_counts();
  MPI_Finalize();
  return ever_wrong != 0;
}

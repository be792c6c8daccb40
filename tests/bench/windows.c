/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI's window is made and accessed by the functions that MPI's library has, the other one by those
 * that a program gets. */
#include "windows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpich/mpich.h"
#include "preload.h"

#define FIRST 64 /* bytes of the counters */
#define SMALL 64 /* bytes of a window that is made and freed */

/* --- MPI's functions ----------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                               \
  X(Put)                                                                                           \
  X(Get)                                                                                           \
  X(Accumulate)                                                                                    \
  X(Get_accumulate)                                                                                \
  X(Fetch_and_op)                                                                                  \
  X(Compare_and_swap)                                                                              \
  X(Win_flush)                                                                                     \
  X(Win_flush_all)                                                                                 \
  X(Win_flush_local)                                                                               \
  X(Win_flush_local_all)                                                                           \
  X(Win_create)                                                                                    \
  X(Win_allocate)                                                                                  \
  X(Win_free)                                                                                      \
  X(Win_lock_all)                                                                                  \
  X(Win_unlock_all)                                                                                \
  X(Alloc_mem)                                                                                     \
  X(Free_mem)

typedef struct {
#define MEMBER(name) __typeof__(MPI_##name) *name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} functions;

static functions by[2]; /* BENCH_WINDOWS_MPI, BENCH_WINDOWS_SERVED */

static int find_functions(void) {
  int good = 1;
#define FIND(name)                                                                                 \
  by[BENCH_WINDOWS_MPI].name = (__typeof__(MPI_##name) *)bench_preload_find_mpi("MPI_" #name);     \
  by[BENCH_WINDOWS_SERVED].name = (__typeof__(MPI_##name) *)bench_preload_find("MPI_" #name);      \
  good = good && by[BENCH_WINDOWS_MPI].name && by[BENCH_WINDOWS_SERVED].name;
  FUNCTIONS(FIND)
#undef FIND
  return good;
}

/* --- life ------------------------------------------------------------------------------------ */

static void lay_out(bench_windows *w, int n) {
  enum { SIDE = BENCH_WINDOWS_SIDE };
  w->origin = w->target = (bench_windows_patch){1, n, n, 0, n};
  if (w->shape == BENCH_WINDOWS_SUBARRAY || w->shape == BENCH_WINDOWS_NEW_TYPES) {
    w->origin = (bench_windows_patch){SIDE, SIDE, 96, 16 * 96 + 16, 96 * 96};
    w->target = (bench_windows_patch){SIDE, SIDE, 128, 32 * 128 + 32, 128 * 128};
  }
  w->bytes = FIRST + (int64_t)BENCH_WINDOWS_SPOTS * w->target.area * (int64_t)sizeof(double);
  w->bytes = (w->bytes + 63) / 64 * 64;
}

static MPI_Datatype make_type(const bench_windows_patch *p) {
  int sizes[2] = {p->area / p->ld, p->ld}, parts[2] = {p->rows, p->columns};
  int starts[2] = {p->first / p->ld, p->first % p->ld};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void make_types(bench_windows *w) {
  w->origin_type = make_type(&w->origin);
  w->target_type = make_type(&w->target);
}

static void free_types(bench_windows *w) {
  MPI_Type_free(&w->origin_type);
  MPI_Type_free(&w->target_type);
}

static void make_windows(bench_windows *w) {
  char *base;
  MPI_Aint size;
  int unit;
  for (int i = BENCH_WINDOWS_MPI; i <= BENCH_WINDOWS_SERVED; i++) {
    by[i].Win_allocate(w->bytes, 1, MPI_INFO_NULL, w->place->comm, &base, &w->window[i]);
    memset(base, 0, (size_t)w->bytes);
    by[i].Win_lock_all(MPI_MODE_NOCHECK, w->window[i]);
  }
  MPI_Win_allocate_shared(w->bytes, 1, MPI_INFO_NULL, w->place->comm, &base,
                          &w->window[BENCH_WINDOWS_MEMORY]);
  memset(base, 0, (size_t)w->bytes);
  MPI_Win_shared_query(w->window[BENCH_WINDOWS_MEMORY], w->place->ranks - 1, &size, &unit,
                       &w->reached);
  MPI_Barrier(w->place->comm);
}

const char *bench_windows_begin(bench_windows *w, const bench_place *place,
                                bench_windows_shape shape, int n) {
  *w = (bench_windows){.place = place, .shape = shape};
  if (!find_functions())
    return "a function of MPI is not found";
  lay_out(w, n);
  w->origin_type = w->target_type = MPI_DOUBLE;
  if (shape == BENCH_WINDOWS_SUBARRAY)
    make_types(w);
  w->scratch = malloc((size_t)w->bytes);
  for (int i = 0; i < BENCH_WINDOWS_SPOTS; i++)
    if (!(w->buffer[i] = calloc((size_t)w->origin.area + 1, sizeof(double))))
      return "no memory for the buffers";
  make_windows(w);
  return w->scratch ? NULL : "no memory for the buffers";
}

void bench_windows_read(const bench_windows *w, bench_windows_store store) {
  int n = (int)((w->bytes - FIRST) / (int64_t)sizeof(double)), to = w->place->ranks - 1;
  if (store == BENCH_WINDOWS_MEMORY)
    memcpy(w->scratch, w->reached + FIRST, (size_t)n * sizeof(double));
  else {
    by[store].Get(w->scratch, n, MPI_DOUBLE, to, FIRST, n, MPI_DOUBLE, w->window[store]);
    by[store].Win_flush(to, w->window[store]);
  }
}

void bench_windows_write(const bench_windows *w, bench_windows_store store) {
  int n = (int)((w->bytes - FIRST) / (int64_t)sizeof(double)), to = w->place->ranks - 1;
  if (store == BENCH_WINDOWS_MEMORY)
    memcpy(w->reached + FIRST, w->scratch, (size_t)n * sizeof(double));
  else {
    by[store].Put(w->scratch, n, MPI_DOUBLE, to, FIRST, n, MPI_DOUBLE, w->window[store]);
    by[store].Win_flush(to, w->window[store]);
  }
}

void bench_windows_end(bench_windows *w) {
  for (int i = BENCH_WINDOWS_MPI; i <= BENCH_WINDOWS_SERVED; i++) {
    by[i].Win_unlock_all(w->window[i]);
    by[i].Win_free(&w->window[i]);
  }
  MPI_Win_free(&w->window[BENCH_WINDOWS_MEMORY]);
  if (w->shape == BENCH_WINDOWS_SUBARRAY)
    free_types(w);
  for (int i = 0; i < BENCH_WINDOWS_SPOTS; i++)
    free(w->buffer[i]);
  free(w->scratch);
}

/* The library's handles look like windows that MPICH has built in, of which there are none. */
int bench_windows_served(const bench_windows *w) {
  return (uint32_t)MPI_Win_c2f(w->window[BENCH_WINDOWS_SERVED]) >> 26 == 0x18;
}

/* --- one operation ------------------------------------------------------------------------- */

static MPI_Aint place_of(const bench_windows *w, int spot) {
  return FIRST + (MPI_Aint)spot * w->target.area * (MPI_Aint)sizeof(double);
}

static void transfer(const bench_windows_work *k, int spot) {
  const bench_windows *w = k->windows;
  const functions *f = &by[k->store];
  int to = w->place->ranks - 1, dense = w->shape == BENCH_WINDOWS_DENSE;
  int n = dense ? w->target.columns : 1;
  MPI_Datatype here = w->origin_type, there = w->target_type;
  MPI_Aint at = place_of(w, spot);
  MPI_Win win = w->window[k->store];
  double *b = w->buffer[spot];
  switch (k->kind) {
  case BENCH_WINDOWS_PUT:
    f->Put(b, n, here, to, at, n, there, win);
    break;
  case BENCH_WINDOWS_GET:
    f->Get(b, n, here, to, at, n, there, win);
    break;
  case BENCH_WINDOWS_READ:
    f->Get_accumulate(NULL, 0, MPI_DOUBLE, b, n, here, to, at, n, there, MPI_NO_OP, win);
    break;
  default:
    f->Accumulate(b, n, here, to, at, n, there,
                  k->kind == BENCH_WINDOWS_SUM ? MPI_SUM : MPI_REPLACE, win);
  }
}

/* A counter for each of the two operations. What is passed lives until the flush. */
static void fetch(bench_windows_work *k) {
  static const int64_t one = 1;
  const bench_windows *w = k->windows;
  if (k->store == BENCH_WINDOWS_MEMORY)
    k->seen = atomic_fetch_add((_Atomic int64_t *)w->reached, 1);
  else
    by[k->store].Fetch_and_op(&one, &k->seen, MPI_INT64_T, w->place->ranks - 1, 0, MPI_SUM,
                              w->window[k->store]);
}

static void swap(bench_windows_work *k, int i) {
  const bench_windows *w = k->windows;
  k->old = k->count + i;
  k->new = k->old + 1;
  k->seen = k->old;
  if (k->store == BENCH_WINDOWS_MEMORY)
    atomic_compare_exchange_strong((_Atomic int64_t *)w->reached + 1, &k->seen, k->new);
  else
    by[k->store].Compare_and_swap(&k->new, &k->old, &k->seen, MPI_INT64_T, w->place->ranks - 1,
                                  sizeof(int64_t), w->window[k->store]);
}

/* MPI's own flush has ended a wait, as mpich/polite_calls.c says. */
#define FLUSH_OFTEN(call)                                                                          \
  for (int i = 0; i < k->batch; i++) {                                                             \
    call;                                                                                          \
    if (mpi)                                                                                       \
      rgi_mpich_end_row();                                                                         \
  }

/* Loops with nothing else in them: a flush is a matter of nanoseconds. */
static void flush_often(const bench_windows_work *k) {
  const functions *f = &by[k->store];
  MPI_Win win = k->windows->window[k->store];
  int to = k->windows->place->ranks - 1, mpi = k->store == BENCH_WINDOWS_MPI;
  if (k->kind == BENCH_WINDOWS_FLUSH)
    FLUSH_OFTEN(f->Win_flush(to, win))
  else if (k->kind == BENCH_WINDOWS_FLUSH_ALL)
    FLUSH_OFTEN(f->Win_flush_all(win))
  else if (k->kind == BENCH_WINDOWS_FLUSH_LOCAL)
    FLUSH_OFTEN(f->Win_flush_local(to, win))
  else
    FLUSH_OFTEN(f->Win_flush_local_all(win))
}

static void make_window(const bench_windows_work *k) {
  const functions *f = &by[k->store];
  MPI_Win win;
  void *base;
  f->Win_allocate(SMALL, 1, MPI_INFO_NULL, k->windows->place->comm, &base, &win);
  f->Win_free(&win);
}

static void use_memory(const bench_windows_work *k) {
  const functions *f = &by[k->store];
  MPI_Win win;
  void *base;
  f->Alloc_mem(SMALL, MPI_INFO_NULL, &base);
  if (k->kind == BENCH_WINDOWS_CREATE) {
    f->Win_create(base, SMALL, 1, MPI_INFO_NULL, k->windows->place->comm, &win);
    f->Win_free(&win);
  }
  f->Free_mem(base);
}

/* By loops over rows. */
static void load_and_store(const bench_windows_work *k, int spot) {
  const bench_windows *w = k->windows;
  const bench_windows_patch *o = &w->origin, *t = &w->target;
  double *there = (double *)(w->reached + place_of(w, spot)) + t->first;
  double *here = w->buffer[spot] + o->first;
  size_t bytes = (size_t)t->columns * sizeof(double);
  for (int i = 0; i < t->rows; i++, here += o->ld, there += t->ld)
    if (k->kind == BENCH_WINDOWS_SUM)
      for (int j = 0; j < t->columns; j++)
        there[j] += here[j];
    else if (k->kind == BENCH_WINDOWS_GET || k->kind == BENCH_WINDOWS_READ)
      memcpy(here, there, bytes);
    else
      memcpy(there, here, bytes);
}

/* One access, complete at its target. */
static void access_once(bench_windows_work *k, int i) {
  const bench_windows *w = k->windows;
  if (k->kind == BENCH_WINDOWS_FETCH)
    fetch(k);
  else if (k->kind == BENCH_WINDOWS_SWAP)
    swap(k, i);
  else if (k->store == BENCH_WINDOWS_MEMORY)
    load_and_store(k, i % BENCH_WINDOWS_SPOTS);
  else
    transfer(k, i % BENCH_WINDOWS_SPOTS);
  if (k->store != BENCH_WINDOWS_MEMORY)
    by[k->store].Win_flush(w->place->ranks - 1, w->window[k->store]);
  if (k->store == BENCH_WINDOWS_MPI)
    rgi_mpich_end_row();
  k->wrong_swap |= k->kind == BENCH_WINDOWS_SWAP && k->seen != k->old;
}

static void run_once(bench_windows_work *k, int i) {
  int renew = k->windows->shape == BENCH_WINDOWS_NEW_TYPES && k->store != BENCH_WINDOWS_MEMORY;
  if (k->kind == BENCH_WINDOWS_ALLOCATE)
    make_window(k);
  else if (k->kind > BENCH_WINDOWS_FLUSH_LOCAL_ALL)
    use_memory(k);
  else {
    if (renew)
      make_types(k->windows);
    access_once(k, i);
    if (renew)
      free_types(k->windows);
  }
}

const char *bench_windows_run(void *context) {
  bench_windows_work *k = context;
  if (k->kind >= BENCH_WINDOWS_FLUSH && k->kind <= BENCH_WINDOWS_FLUSH_LOCAL_ALL)
    flush_often(k);
  else if (k->kind < BENCH_WINDOWS_FLUSH && k->windows->shape != BENCH_WINDOWS_NEW_TYPES)
    for (int i = 0; i < k->batch; i++)
      access_once(k, i);
  else
    for (int i = 0; i < k->batch; i++)
      run_once(k, i);
  return NULL;
}

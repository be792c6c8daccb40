/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Operations that move data. */
#include <stdlib.h>
#include <time.h>

#include "tests/collectives/cases.h"
#include "tests/collectives/suites.h"

#define TURNS 6

static rg_request request;

static const type_case *draw_type(void) {
  return &types[draw(MOVED_TYPES)];
}

/* --- barrier --------------------------------------------------------------------- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* No member leaves before the last one has arrived: one machine, one clock. */
static void barrier(rg_group g, int rank, int size, int blocking) {
  int late = draw(size);
  double came, left, last;
  if (rank == late) {
    struct timespec t = {0, 2000000};
    nanosleep(&t, NULL);
  }
  came = now();
  ended(blocking ? rg_barrier(g) : rg_ibarrier(g, &request), &request);
  left = now();
  MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  checked(left >= last);
}

void test_barrier(void) {
  each_algorithm(RG_OP_BARRIER, 4, barrier);
}

/* --- broadcast --------------------------------------------------------------------- */

static void bcast(rg_group g, int rank, int size, int blocking) {
  const type_case *t = draw_type();
  int root = draw(size);
  long long n = draw(8) ? draw_count() : 40000;
  char *buffer = blank(t, n), *want = blank(t, n);
  say("root %d, %lld of %s", root, n, t->name);
  if (rank == root)
    fill(t, buffer, 0, root, 0, n);
  fill(t, want, 0, root, 0, n);
  ended(blocking ? rg_bcast(g, buffer, n, t->type, root)
                 : rg_ibcast(g, buffer, n, t->type, root, &request),
        &request);
  checked(same_memory(t, buffer, want, n));
  free(buffer);
}

void test_bcast(void) {
  each_algorithm(RG_OP_BCAST, 2 * TURNS, bcast);
}

/* --- gather and allgather ------------------------------------------------------------ */

/* Blocks for all ranks, in a drawn order with gaps between them where uneven. */
typedef struct {
  MPI_Count counts[RANKS_MOST];
  MPI_Aint displs[RANKS_MOST];
  long long all; /* elements of memory */
} layout;

static void draw_layout(layout *l, int size, int even) {
  MPI_Count n = draw_count() / (1 + size / 4);
  l->all = 0;
  for (int i = 0; i < size; i++) {
    l->counts[i] = even      ? n
                   : draw(8) ? draw_count() / (1 + size / 4)
                             : 8192 - 2 + draw(5); /* where blocks of ints become long */
    l->displs[i] = l->all += even ? 0 : draw(3);
    l->all += l->counts[i];
  }
}

static void expect_blocks(const type_case *t, char *want, const layout *l, int size) {
  for (int i = 0; i < size; i++)
    fill(t, want, l->displs[i], i, 0, l->counts[i]);
}

static int call_gather(rg_group g, int blocking, int v, const void *send, MPI_Count n, void *recv,
                       const layout *l, MPI_Datatype type, int root) {
  if (v)
    return blocking
               ? rg_gatherv(g, send, n, type, recv, l->counts, l->displs, type, root)
               : rg_igatherv(g, send, n, type, recv, l->counts, l->displs, type, root, &request);
  return blocking ? rg_gather(g, send, n, type, recv, l->counts[0], type, root)
                  : rg_igather(g, send, n, type, recv, l->counts[0], type, root, &request);
}

static void gather_case(rg_group g, int rank, int size, int blocking, int v) {
  const type_case *t = draw_type();
  int root = draw(size), in_place = draw(3) == 0;
  layout l;
  draw_layout(&l, size, !v);
  long long n = l.counts[rank];
  char *send = blank(t, n), *recv = blank(t, l.all), *want = blank(t, l.all);
  say("root %d, %lld of %s, in place %d", root, n, t->name, in_place);
  fill(t, send, 0, rank, 0, n);
  if (rank == root)
    expect_blocks(t, want, &l, size);
  if (rank == root && in_place)
    fill(t, recv, l.displs[rank], rank, 0, n);
  ended(call_gather(g, blocking, v, rank == root && in_place ? MPI_IN_PLACE : send, n, recv, &l,
                    t->type, root),
        &request);
  checked(same_memory(t, recv, want, l.all));
  free(send);
  free(recv);
}

static void gather(rg_group g, int rank, int size, int blocking) {
  gather_case(g, rank, size, blocking, 0);
}

static void gatherv(rg_group g, int rank, int size, int blocking) {
  gather_case(g, rank, size, blocking, 1);
}

void test_gather(void) {
  each_algorithm(RG_OP_GATHER, TURNS, gather);
}

void test_gatherv(void) {
  each_algorithm(RG_OP_GATHERV, TURNS, gatherv);
}

static int call_allgather(rg_group g, int blocking, int v, const void *send, MPI_Count n,
                          void *recv, const layout *l, MPI_Datatype type) {
  if (v)
    return blocking ? rg_allgatherv(g, send, n, type, recv, l->counts, l->displs, type)
                    : rg_iallgatherv(g, send, n, type, recv, l->counts, l->displs, type, &request);
  return blocking ? rg_allgather(g, send, n, type, recv, l->counts[0], type)
                  : rg_iallgather(g, send, n, type, recv, l->counts[0], type, &request);
}

static void allgather_case(rg_group g, int rank, int size, int blocking, int v) {
  const type_case *t = draw_type();
  int in_place = draw(3) == 0;
  layout l;
  draw_layout(&l, size, !v);
  long long n = l.counts[rank];
  char *send = blank(t, n), *recv = blank(t, l.all), *want = blank(t, l.all);
  say("%lld of %s, in place %d", n, t->name, in_place);
  fill(t, send, 0, rank, 0, n);
  expect_blocks(t, want, &l, size);
  if (in_place)
    fill(t, recv, l.displs[rank], rank, 0, n);
  ended(call_allgather(g, blocking, v, in_place ? MPI_IN_PLACE : send, n, recv, &l, t->type),
        &request);
  checked(same_memory(t, recv, want, l.all));
  free(send);
  free(recv);
}

static void allgather(rg_group g, int rank, int size, int blocking) {
  allgather_case(g, rank, size, blocking, 0);
}

static void allgatherv(rg_group g, int rank, int size, int blocking) {
  allgather_case(g, rank, size, blocking, 1);
}

void test_allgather(void) {
  each_algorithm(RG_OP_ALLGATHER, TURNS, allgather);
}

void test_allgatherv(void) {
  each_algorithm(RG_OP_ALLGATHERV, TURNS, allgatherv);
}

/* --- scatter --------------------------------------------------------------------------- */

static int call_scatter(rg_group g, int blocking, int v, const void *send, const layout *l,
                        void *recv, MPI_Count n, MPI_Datatype type, int root) {
  if (v)
    return blocking
               ? rg_scatterv(g, send, l->counts, l->displs, type, recv, n, type, root)
               : rg_iscatterv(g, send, l->counts, l->displs, type, recv, n, type, root, &request);
  return blocking ? rg_scatter(g, send, l->counts[0], type, recv, n, type, root)
                  : rg_iscatter(g, send, l->counts[0], type, recv, n, type, root, &request);
}

/* Block i of the root holds what rank i would have. */
static void scatter_case(rg_group g, int rank, int size, int blocking, int v) {
  const type_case *t = draw_type();
  int root = draw(size), in_place = draw(3) == 0 && rank == root;
  layout l;
  draw_layout(&l, size, !v);
  long long n = l.counts[rank];
  char *send = blank(t, l.all), *recv = blank(t, n), *want = blank(t, n);
  say("root %d, %lld of %s, in place %d", root, n, t->name, in_place);
  if (rank == root)
    expect_blocks(t, send, &l, size);
  if (!in_place)
    fill(t, want, 0, rank, 0, n);
  ended(call_scatter(g, blocking, v, send, &l, in_place ? MPI_IN_PLACE : recv, n, t->type, root),
        &request);
  checked(same_memory(t, recv, want, n));
  free(send);
  free(recv);
}

static void scatter(rg_group g, int rank, int size, int blocking) {
  scatter_case(g, rank, size, blocking, 0);
}

static void scatterv(rg_group g, int rank, int size, int blocking) {
  scatter_case(g, rank, size, blocking, 1);
}

void test_scatter(void) {
  each_algorithm(RG_OP_SCATTER, TURNS, scatter);
}

void test_scatterv(void) {
  each_algorithm(RG_OP_SCATTERV, TURNS, scatterv);
}

/* --- all-to-all -------------------------------------------------------------------------- */

/* How many elements `from` sends to `to`: in place it must be the same both ways. */
static long long between(int even, int base, int from, int to) {
  return even ? base : (base + (from + to) * 7 + (from * to) % 5) % (base + 3);
}

/* What `from` sends to `to` are its elements from 10000 to on. */
static void layout_of(layout *l, int even, int base, int rank, int size) {
  l->all = 0;
  for (int i = 0; i < size; i++) {
    l->displs[i] = l->all += even ? 0 : i % 2;
    l->counts[i] = between(even, base, rank, i);
    l->all += l->counts[i];
  }
}

static int call_alltoall(rg_group g, int blocking, int v, const void *send, void *recv,
                         const layout *l, MPI_Datatype type) {
  if (v)
    return blocking
               ? rg_alltoallv(g, send, l->counts, l->displs, type, recv, l->counts, l->displs, type)
               : rg_ialltoallv(g, send, l->counts, l->displs, type, recv, l->counts, l->displs,
                               type, &request);
  return blocking ? rg_alltoall(g, send, l->counts[0], type, recv, l->counts[0], type)
                  : rg_ialltoall(g, send, l->counts[0], type, recv, l->counts[0], type, &request);
}

static void alltoall_case(rg_group g, int rank, int size, int blocking, int v) {
  const type_case *t = draw_type();
  int in_place = draw(3) == 0;
  layout l;
  layout_of(&l, !v, (int)draw_count() / (1 + size / 2), rank, size);
  char *send = blank(t, l.all), *recv = blank(t, l.all), *want = blank(t, l.all);
  say("%lld to rank 0 of %s, in place %d", (long long)l.counts[0], t->name, in_place);
  for (int i = 0; i < size; i++) {
    fill(t, in_place ? recv : send, l.displs[i], rank, 10000LL * i, l.counts[i]);
    fill(t, want, l.displs[i], i, 10000LL * rank, l.counts[i]);
  }
  ended(call_alltoall(g, blocking, v, in_place ? MPI_IN_PLACE : send, recv, &l, t->type), &request);
  checked(same_memory(t, recv, want, l.all));
  free(send);
  free(recv);
}

static void alltoall(rg_group g, int rank, int size, int blocking) {
  alltoall_case(g, rank, size, blocking, 0);
}

static void alltoallv(rg_group g, int rank, int size, int blocking) {
  alltoall_case(g, rank, size, blocking, 1);
}

void test_alltoall(void) {
  each_algorithm(RG_OP_ALLTOALL, TURNS, alltoall);
}

void test_alltoallv(void) {
  each_algorithm(RG_OP_ALLTOALLV, TURNS, alltoallv);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Laplace's equation on a square by Jacobi's iteration. Each rank holds a block of the inner
 * points with a frame of ghost cells, which it fills from the neighbours' blocks once in each
 * step. The value on the edge is x^2 - y^2, which is also the solution inside, without an error
 * of discretisation: so the result can be checked.
 *
 *   example-jacobi [points along an edge]     (default 32) */
#include <math.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../common/check.h"

/* The inner points are (i + 1) h, i = 0 .. n - 1. */
static double solution(double h, int64_t i, int64_t j) {
  double x = (double)(i + 1) * h, y = (double)(j + 1) * h;
  return x * x - y * y;
}

/* The rank's block: point (i, j) of the grid is at(i - lo[0], j - lo[1]), ghosts have
 * -1 or one more than the last. */
typedef struct {
  rg_array a;
  int64_t lo[2], hi[2], ld;
  double *first; /* of the block's own points */
  int empty;
} grid_block;

static double *at(const grid_block *block, int64_t i, int64_t j) {
  return block->first + i * block->ld + j;
}

static grid_block make(rg_group g, int rank, int64_t n) {
  rg_array_spec spec = {};
  const int64_t shape[2] = {n, n};
  grid_block b;
  double *corner = NULL;
  spec.size = sizeof spec;
  check(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape));
  spec.ghosts[0] = spec.ghosts[1] = 1;
  check(rg_array_create(g, &spec, &b.a));
  check(rg_array_zero(b.a));
  check(rg_array_distribution(b.a, rank, b.lo, b.hi));
  b.empty = b.lo[0] == b.hi[0] || b.lo[1] == b.hi[1];
  b.ld = 0;
  if (!b.empty)
    check(rg_array_access_ghosts(b.a, RG_ACCESS_READ_WRITE, &corner, &b.ld));
  b.first = b.empty ? NULL : corner + b.ld + 1;
  return b;
}

/* Ghosts at the edge of the square are never updated: they hold the given values. */
static void set_edges(const grid_block *block, int64_t n, double h) {
  if (block->empty)
    return;
  for (int64_t i = block->lo[0] - 1; i <= block->hi[0]; i++)
    for (int64_t j = block->lo[1] - 1; j <= block->hi[1]; j++)
      if (i < 0 || i == n || j < 0 || j == n)
        *at(block, i - block->lo[0], j - block->lo[1]) = solution(h, i, j);
}

static void step(const grid_block *from, const grid_block *to) {
  if (from->empty)
    return;
  for (int64_t i = 0; i < from->hi[0] - from->lo[0]; i++)
    for (int64_t j = 0; j < from->hi[1] - from->lo[1]; j++)
      *at(to, i, j) =
          (*at(from, i - 1, j) + *at(from, i + 1, j) + *at(from, i, j - 1) + *at(from, i, j + 1)) /
          4;
}

/* The greatest difference of two arrays; the second one is lost. */
static double difference(rg_array a, rg_array b) {
  const double one = 1, minus = -1;
  double norm;
  check(rg_array_add(&one, a, &minus, b, b));
  check(rg_array_norm(b, RG_NORM_INFINITY, &norm));
  return norm;
}

static int exact(void *elements, int64_t n, const int64_t at_[], void *context) {
  double *u = (double *)elements;
  for (int64_t k = 0; k < n; k++)
    u[k] = solution(*(double *)context, at_[0], at_[1] + k);
  return 0;
}

int main(int argc, char **argv) {
  rg_group world;
  int rank, steps = 0;
  double change = 1, start_change = 0, wrong;
  MPI_Init(&argc, &argv);
  int64_t n = argc > 1 ? atoll(argv[1]) : 32;
  if (n < 1) {
    fprintf(stderr, "usage: %s [points along an edge, at least 1]\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));
  double h = 1 / (double)(n + 1);
  int shows = rank == 0 && isatty(STDERR_FILENO);

  grid_block u[2] = {make(world, rank, n), make(world, rank, n)};
  set_edges(&u[0], n, h);
  set_edges(&u[1], n, h);
  check(rg_array_sync(u[1].a));
  while (change > 1e-8) {
    for (int k = 0; k < 100; k++, steps++) {
      check(rg_array_update_ghosts(u[steps % 2].a));
      step(&u[steps % 2], &u[(steps + 1) % 2]);
    }
    change = difference(u[steps % 2].a, u[(steps + 1) % 2].a);
    start_change = start_change > change ? start_change : change;
    if (shows)
      fprintf(stderr, "\r%7d steps, %3.0f %% ", steps,
              100 * log(start_change / change) / log(start_change / 1e-8));
  }
  if (shows)
    fprintf(stderr, "\r%30s\r", "");

  check(rg_array_map(u[(steps + 1) % 2].a, NULL, NULL, exact, &h));
  wrong = difference(u[steps % 2].a, u[(steps + 1) % 2].a);
  if (rank == 0)
    printf("%lld x %lld points: %d steps, greatest error %.1e\n", (long long)n, (long long)n, steps,
           wrong);
  check(rg_array_free(&u[0].a));
  check(rg_array_free(&u[1].a));
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return wrong < 1e-4 ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Jacobi's iteration for Laplace's equation, with ghost cells. The values at the edge are i + 2 j,
 * and so is then the solution. */
#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { N = 14, STEPS = 1000 };

typedef struct {
  double *cells; /* with the ghosts */
  int ld, lo[2], hi[2];
} part;

static part local(int g) {
  part p;
  int dims[2];
  NGA_Distribution(g, GA_Nodeid(), p.lo, p.hi);
  NGA_Access_ghosts(g, dims, &p.cells, &p.ld);
  return p;
}

static double *cell(part p, int i, int j) {
  return p.cells + (i - p.lo[0] + 1) * p.ld + j - p.lo[1] + 1;
}

static int is_edge(int i, int j) {
  return i == 0 || j == 0 || i == N - 1 || j == N - 1;
}

static void start(int g) {
  part p = local(g);
  for (int i = p.lo[0]; i <= p.hi[0]; i++)
    for (int j = p.lo[1]; j <= p.hi[1]; j++)
      *cell(p, i, j) = is_edge(i, j) ? i + 2 * j : 0;
  NGA_Release_update_ghosts(g);
}

static void step(int from, int to) {
  GA_Update_ghosts(from);
  part a = local(from), b = local(to);
  for (int i = a.lo[0]; i <= a.hi[0]; i++)
    for (int j = a.lo[1]; j <= a.hi[1]; j++)
      if (!is_edge(i, j))
        *cell(b, i, j) =
            (*cell(a, i - 1, j) + *cell(a, i + 1, j) + *cell(a, i, j - 1) + *cell(a, i, j + 1)) / 4;
  NGA_Release_ghosts(from);
  NGA_Release_update_ghosts(to);
  GA_Sync();
}

static double error_of(int g) {
  double worst = 0;
  part p = local(g);
  for (int i = p.lo[0]; i <= p.hi[0]; i++)
    for (int j = p.lo[1]; j <= p.hi[1]; j++)
      worst = fmax(worst, fabs(*cell(p, i, j) - i - 2 * j));
  NGA_Release_ghosts(g);
  GA_Dgop(&worst, 1, "max");
  return worst;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  GA_Initialize();
  MA_init(C_DBL, 100000, 100000);
  int dims[2] = {N, N}, width[2] = {1, 1}, chunk[2] = {-1, -1}, steps = 0;
  int a = NGA_Create_ghosts(C_DBL, 2, dims, width, "a", chunk);
  int b = NGA_Create_ghosts(C_DBL, 2, dims, width, "b", chunk);
  start(a);
  start(b);
  GA_Sync();
  double before = error_of(a);
  for (; steps < STEPS && error_of(a) > 1e-6; steps++) {
    step(a, b);
    int swap = a;
    a = b;
    b = swap;
  }
  if (GA_Nodeid() == 0)
    printf("error %.3f steps %d %s\n", before, steps, steps < STEPS ? "right" : "wrong");
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Terminate();
  MPI_Finalize();
  return 0;
}

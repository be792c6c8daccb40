/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A Fock matrix from blocks that a counter hands out, and its eigenvalues. The "integrals" make it
 * trace(D) = 1 times the second difference, whose eigenvalues are 2 - 2 cos(k pi / (n + 1)). */
#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { N = 32, BLOCK = 8, BLOCKS = N / BLOCK };

static double integral(int i, int j) {
  return i == j ? 2 : i == j + 1 || j == i + 1 ? -1 : 0;
}

/* The part of F's block (bi, bj) that the block bk of the density's diagonal gives. */
static void do_task(long task, int density, int fock) {
  int bi = (int)(task / BLOCKS / BLOCKS), bj = (int)(task / BLOCKS) % BLOCKS,
      bk = (int)task % BLOCKS;
  int at[2] = {bk * BLOCK, bk * BLOCK}, end[2] = {at[0] + BLOCK - 1, at[1] + BLOCK - 1}, ld = BLOCK;
  int lo[2] = {bi * BLOCK, bj * BLOCK}, hi[2] = {lo[0] + BLOCK - 1, lo[1] + BLOCK - 1};
  double d[BLOCK][BLOCK], f[BLOCK][BLOCK], trace = 0, one = 1;
  NGA_Get(density, at, end, d, &ld);
  for (int k = 0; k < BLOCK; k++)
    trace += d[k][k];
  for (int i = 0; i < BLOCK; i++)
    for (int j = 0; j < BLOCK; j++)
      f[i][j] = trace * integral(lo[0] + i, lo[1] + j);
  NGA_Acc(fock, lo, hi, f, &ld, &one);
}

static void fill_density(int density) {
  double share = 1. / N;
  GA_Zero(density);
  for (int i = GA_Nodeid(); i < N; i += GA_Nnodes()) {
    int at[2] = {i, i}, ld = 1;
    NGA_Put(density, at, at, &share, &ld);
  }
  GA_Sync();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  GA_Initialize();
  MA_init(C_DBL, 100000, 100000);
  int dims[2] = {N, N}, chunk[2] = {-1, -1}, one = 1, first = 0;
  int density = NGA_Create(C_DBL, 2, dims, "density", chunk);
  int fock = GA_Duplicate(density, "fock"), vectors = GA_Duplicate(density, "vectors");
  int counter = NGA_Create(C_LONG, 1, &one, "counter", chunk);
  double values[N], wrong = 0;
  fill_density(density);
  GA_Zero(fock);
  GA_Zero(counter);
  for (long task; (task = NGA_Read_inc(counter, &first, 1)) < BLOCKS * BLOCKS * BLOCKS;)
    do_task(task, density, fock);
  GA_Sync();
  double square = GA_Ddot(fock, fock);
  GA_Diag_std_seq(fock, vectors, values);
  double norm = GA_Ddot(vectors, vectors);
  for (int k = 0; k < N; k++)
    wrong = fmax(wrong, fabs(values[k] - 2 + 2 * cos((k + 1) * acos(-1.) / (N + 1))));
  if (GA_Nodeid() == 0)
    printf("square %.6f norm %.6f lowest %.6f highest %.6f %s\n", square, norm, values[0],
           values[N - 1], wrong < 1e-12 * N ? "right" : "wrong");
  GA_Destroy(counter);
  GA_Destroy(vectors);
  GA_Destroy(fock);
  GA_Destroy(density);
  GA_Terminate();
  MPI_Finalize();
  return 0;
}

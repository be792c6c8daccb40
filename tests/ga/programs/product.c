/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A product of matrices by blocks on each of two groups of processes: a member gets the next blocks
 * while it multiplies those that it has. Group g has a(i, j) = (g + 1) i and b(i, j) = j, from 1,
 * so that c(i, j) = n (g + 1) i j. */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>

enum { N = 24, BLOCK = 6, BLOCKS = N / BLOCK };

typedef struct {
  double a[BLOCK][BLOCK], b[BLOCK][BLOCK];
  ga_nbhdl_t requests[2];
} blocks;

static int create(const char *name, int group) {
  int dims[2] = {N, N}, g = GA_Create_handle();
  GA_Set_data(g, 2, dims, C_DBL);
  GA_Set_array_name(g, (char *)name);
  GA_Set_pgroup(g, group);
  GA_Allocate(g);
  return g;
}

static void bounds(int bi, int bj, int lo[2], int hi[2]) {
  lo[0] = bi * BLOCK;
  lo[1] = bj * BLOCK;
  hi[0] = lo[0] + BLOCK - 1;
  hi[1] = lo[1] + BLOCK - 1;
}

static void fill(int g, int rows, int factor, int group) {
  for (int i = GA_Pgroup_nodeid(group); i < N; i += GA_Pgroup_nnodes(group)) {
    double row[N];
    int lo[2] = {i, 0}, hi[2] = {i, N - 1}, ld = N;
    for (int j = 0; j < N; j++)
      row[j] = factor * (rows ? i + 1 : j + 1);
    NGA_Put(g, lo, hi, row, &ld);
  }
}

static void fetch(int a, int b, int bi, int bj, int k, blocks *to) {
  int lo[2], hi[2], ld = BLOCK;
  bounds(bi, k, lo, hi);
  NGA_NbGet(a, lo, hi, to->a, &ld, &to->requests[0]);
  bounds(k, bj, lo, hi);
  NGA_NbGet(b, lo, hi, to->b, &ld, &to->requests[1]);
}

static void multiply(int a, int b, int c, int bi, int bj) {
  static blocks two[2];
  double sum[BLOCK][BLOCK] = {{0}};
  int lo[2], hi[2], ld = BLOCK;
  fetch(a, b, bi, bj, 0, &two[0]);
  for (int k = 0; k < BLOCKS; k++) {
    blocks *now = &two[k % 2];
    if (k + 1 < BLOCKS)
      fetch(a, b, bi, bj, k + 1, &two[(k + 1) % 2]);
    NGA_NbWait(&now->requests[0]);
    NGA_NbWait(&now->requests[1]);
    for (int i = 0; i < BLOCK; i++)
      for (int j = 0; j < BLOCK; j++)
        for (int l = 0; l < BLOCK; l++)
          sum[i][j] += now->a[i][l] * now->b[l][j];
  }
  bounds(bi, bj, lo, hi);
  NGA_Put(c, lo, hi, sum, &ld);
}

/* The members' part: the sum of c's elements, and of those that are wrong. */
static void work(int group, int which, double sums[2]) {
  int a = create("a", group), b = create("b", group), c = create("c", group);
  int me = GA_Pgroup_nodeid(group), np = GA_Pgroup_nnodes(group);
  fill(a, 1, which + 1, group);
  fill(b, 0, 1, group);
  GA_Pgroup_sync(group);
  for (int block = me; block < BLOCKS * BLOCKS; block += np)
    multiply(a, b, c, block / BLOCKS, block % BLOCKS);
  GA_Pgroup_sync(group);
  for (int i = me; i < N; i += np) {
    double row[N];
    int lo[2] = {i, 0}, hi[2] = {i, N - 1}, ld = N;
    NGA_Get(c, lo, hi, row, &ld);
    for (int j = 0; j < N; j++) {
      sums[0] += row[j];
      sums[1] += row[j] != (double)N * (which + 1) * (i + 1) * (j + 1);
    }
  }
  GA_Pgroup_sync(group);
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(c);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  GA_Initialize();
  MA_init(C_DBL, 100000, 100000);
  int np = GA_Nnodes(), which = np > 1 && GA_Nodeid() >= np / 2, members[64], n = 0;
  double sums[2] = {0, 0};
  for (int i = 0; i < np; i++)
    if ((np > 1 && i >= np / 2) == which)
      members[n++] = i;
  int group = GA_Pgroup_create(members, n);
  work(group, which, sums);
  GA_Sync();
  GA_Dgop(sums, 2, "+");
  if (GA_Nodeid() == 0)
    printf("sum %.1f wrong %.0f %s\n", sums[0], sums[1], sums[1] == 0 ? "right" : "wrong");
  GA_Pgroup_destroy(group);
  GA_Terminate();
  MPI_Finalize();
  return 0;
}

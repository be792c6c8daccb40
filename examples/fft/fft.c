/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A Fourier transform in three dimensions. The ranks form a grid of rows and columns,
 * each of which is a group. A rank holds pencils: all z for some x and y. After the
 * transforms along z an all-to-all in its row turns them into all y for some x and z;
 * after those along y one in its column into all x for some z and y. Each all-to-all
 * is the transposition of a matrix whose blocks are divided among a group.
 *
 * The input is a sum of two waves, whose transform is two points.
 *
 *   example-fft [points in each dimension, a power of 2]     (default 32) */
#include <math.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/check.h"

typedef struct {
  double re, im;
} number;

/* Pencils of n points each, one for each pair of i in [ilo, ihi) and j in [jlo, jhi):
 * point k of them is at[((i - ilo) * (jhi - jlo) + j - jlo) * n + k]. */
typedef struct {
  int64_t n, ilo, ihi, jlo, jhi;
  number *at;
} pencil_set;

static const double pi = 3.14159265358979323846;

/* Part i of n points that are divided among p. */
static int64_t part(int64_t n, int p, int i) {
  return n * i / p;
}

static pencil_set make(int64_t n, int64_t ilo, int64_t ihi, int64_t jlo, int64_t jhi) {
  pencil_set x = {.n = n, .ilo = ilo, .ihi = ihi, .jlo = jlo, .jhi = jhi, .at = NULL};
  x.at = (number *)malloc((size_t)((ihi - ilo) * (jhi - jlo) * n + 1) * sizeof(number));
  return x;
}

/* --- one transform ---------------------------------------------------------------------- */

static void swap_reversed(int64_t n, number *x) {
  for (int64_t i = 1, j = 0; i < n; i++) {
    int64_t bit = n / 2;
    for (; j & bit; bit /= 2)
      j ^= bit;
    j ^= bit;
    if (i < j) {
      number t = x[i];
      x[i] = x[j];
      x[j] = t;
    }
  }
}

/* Radix 2, in place: X[k] = sum of x[i] exp(-2 pi i k / n). */
static void transform(int64_t n, number *x, const number *roots) {
  swap_reversed(n, x);
  for (int64_t half = 1; half < n; half *= 2)
    for (int64_t i = 0; i < n; i += 2 * half)
      for (int64_t k = 0; k < half; k++) {
        number w = roots[k * (n / 2 / half)], *a = &x[i + k], *b = a + half;
        number t = {w.re * b->re - w.im * b->im, w.re * b->im + w.im * b->re};
        b->re = a->re - t.re;
        b->im = a->im - t.im;
        a->re += t.re;
        a->im += t.im;
      }
}

static void transform_all(const pencil_set *x) {
  number *roots = (number *)malloc((size_t)x->n * sizeof(number));
  for (int64_t k = 0; k < x->n; k++) {
    double angle = -2 * pi * (double)k / (double)x->n;
    roots[k].re = cos(angle);
    roots[k].im = sin(angle);
  }
  for (int64_t p = 0; p < (x->ihi - x->ilo) * (x->jhi - x->jlo); p++)
    transform(x->n, x->at + p * x->n, roots);
  free(roots);
}

/* --- the exchange ------------------------------------------------------------------------ */

/* The members of g hold pencils along k for the same i and divide j among them. They
 * get pencils along j for k, which they divide now, and i: (i, j, k) to (k, i, j). What
 * a member sends to another is a block of i, k and j, in this order. */
static pencil_set turn(rg_group g, pencil_set from) {
  int p, me;
  check(rg_group_size(g, &p));
  check(rg_group_rank(g, &me));
  int64_t n = from.n, is = from.ihi - from.ilo, js = from.jhi - from.jlo;
  pencil_set to = make(n, part(n, p, me), part(n, p, me + 1), from.ilo, from.ihi);
  int64_t ks = to.ihi - to.ilo;
  number *out = (number *)malloc((size_t)(is * js * n + 1) * sizeof(number));
  number *in = (number *)malloc((size_t)(is * ks * n + 1) * sizeof(number));
  MPI_Count *counts = (MPI_Count *)malloc(2 * (size_t)p * sizeof(MPI_Count));
  MPI_Aint *displs = (MPI_Aint *)malloc(2 * (size_t)p * sizeof(MPI_Aint));
  number *next = out;
  for (int q = 0; q < p; q++) {
    displs[q] = (MPI_Aint)(next - out) * 2;
    for (int64_t i = 0; i < is; i++)
      for (int64_t k = part(n, p, q); k < part(n, p, q + 1); k++)
        for (int64_t j = 0; j < js; j++)
          *next++ = from.at[(i * js + j) * n + k];
    counts[q] = (MPI_Count)(next - out) * 2 - displs[q];
    counts[p + q] = 2 * is * ks * (part(n, p, q + 1) - part(n, p, q));
    displs[p + q] = 2 * is * ks * part(n, p, q);
  }
  check(rg_alltoallv(g, out, counts, displs, MPI_DOUBLE, in, counts + p, displs + p, MPI_DOUBLE));
  const number *got = in;
  for (int q = 0; q < p; q++)
    for (int64_t i = 0; i < is; i++)
      for (int64_t k = 0; k < ks; k++)
        for (int64_t j = part(n, p, q); j < part(n, p, q + 1); j++)
          to.at[(k * is + i) * n + j] = *got++;
  free(displs);
  free(counts);
  free(in);
  free(out);
  free(from.at);
  return to;
}

/* --- waves --------------------------------------------------------------------------------- */

/* A wave: its amplitude, and its number of periods along x, y and z. */
typedef struct {
  double height;
  int64_t along[3];
} plane_wave;

/* Of pencils along z: i is x, j is y. */
static void add_wave(const pencil_set *pencils, const plane_wave *wave) {
  for (int64_t x = pencils->ilo; x < pencils->ihi; x++)
    for (int64_t y = pencils->jlo; y < pencils->jhi; y++)
      for (int64_t z = 0; z < pencils->n; z++) {
        number *at =
            &pencils->at[((x - pencils->ilo) * (pencils->jhi - pencils->jlo) + y - pencils->jlo) *
                             pencils->n +
                         z];
        int64_t turns = (wave->along[0] * x + wave->along[1] * y + wave->along[2] * z) % pencils->n;
        at->re += wave->height * cos(2 * pi * (double)turns / (double)pencils->n);
        at->im += wave->height * sin(2 * pi * (double)turns / (double)pencils->n);
      }
}

/* Subtracts the transform of a wave. Of pencils along x: i is y, j is z. */
static void remove_point(const pencil_set *pencils, const plane_wave *wave) {
  int64_t x = wave->along[0], y = wave->along[1], z = wave->along[2];
  if (y >= pencils->ilo && y < pencils->ihi && z >= pencils->jlo && z < pencils->jhi)
    pencils
        ->at[((y - pencils->ilo) * (pencils->jhi - pencils->jlo) + z - pencils->jlo) * pencils->n +
             x]
        .re -= wave->height * (double)pencils->n * (double)pencils->n * (double)pencils->n;
}

static double greatest(const pencil_set *pencils) {
  double most = 0;
  for (int64_t i = 0;
       i < (pencils->ihi - pencils->ilo) * (pencils->jhi - pencils->jlo) * pencils->n; i++)
    most = fmax(most, hypot(pencils->at[i].re, pencils->at[i].im));
  return most;
}

int main(int argc, char **argv) {
  rg_group world, row, column;
  int rank, size, rows = 1;
  MPI_Init(&argc, &argv);
  int64_t n = argc > 1 ? atoll(argv[1]) : 32;
  if (n < 2 || (n & (n - 1))) {
    fprintf(stderr, "usage: %s [points in each dimension, a power of 2]\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));
  check(rg_group_size(world, &size));
  for (int i = 2; i * i <= size; i++)
    rows = size % i == 0 ? i : rows;
  int columns = size / rows, r = rank / columns, c = rank % columns;
  check(rg_group_create_range(world, r * columns, (r + 1) * columns - 1, 1, 0, &row));
  check(rg_group_create_range(world, c, size - 1, columns, 1, &column));

  const plane_wave waves[2] = {{1, {1 % n, 2 % n, 3 % n}}, {0.5, {n - 1, 0, n / 2}}};
  pencil_set u =
      make(n, part(n, rows, r), part(n, rows, r + 1), part(n, columns, c), part(n, columns, c + 1));
  for (int64_t i = 0; i < (u.ihi - u.ilo) * (u.jhi - u.jlo) * n; i++)
    u.at[i].re = u.at[i].im = 0;
  for (int k = 0; k < 2; k++)
    add_wave(&u, &waves[k]);
  double start = MPI_Wtime();
  transform_all(&u);
  u = turn(row, u); /* along y, for z and x */
  transform_all(&u);
  u = turn(column, u); /* along x, for y and z */
  transform_all(&u);
  double seconds = MPI_Wtime() - start, wrong;
  for (int k = 0; k < 2; k++)
    remove_point(&u, &waves[k]);
  wrong = greatest(&u) / ((double)n * (double)n * (double)n);
  check(rg_allreduce(world, MPI_IN_PLACE, &wrong, 1, MPI_DOUBLE, MPI_MAX));
  if (rank == 0)
    printf("%lld^3 points on %d x %d ranks: %.4f s, greatest error %.1e\n", (long long)n, rows,
           columns, seconds, wrong);

  free(u.at);
  check(rg_group_free(&row));
  check(rg_group_free(&column));
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return wrong < 1e-12 ? 0 : 1;
}

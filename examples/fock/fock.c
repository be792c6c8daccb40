/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The Hartree-Fock method for the pi electrons of a ring of n carbon atoms (Pariser, Parr and
 * Pople's model): the Fock matrix is built by tasks that members take from a shared counter, its
 * eigenvectors give the density, and so on until the density does not change. The iteration begins
 * with alternating bonds. In the solution all bonds are alike: its density and energy are known in
 * closed form.
 *
 *   example-fock [atoms]     (default 62; 6, 10, 14, ...) */
#include <math.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/check.h"

#define PI 3.14159265358979323846
static const double BETA = -2.4, REPULSION = 2; /* eV */

/* Of two atoms by their places on the ring: between neighbours an electron moves; two electrons
 * repel each other, less at a distance. */
static double hopping(int64_t d, int64_t n) {
  return d == 1 || d == n - 1 ? BETA : 0;
}

static double repulsion(int64_t d, int64_t n) {
  return REPULSION / (1 + (double)(d < n - d ? d : n - d));
}

/* An element of the Fock matrix. Each atom has one electron to share, which it shields. */
static double element(const double *density, int64_t i, int64_t j, int64_t n) {
  if (i != j)
    return hopping(llabs(i - j), n) - .5 * repulsion(llabs(i - j), n) * density[i * n + j];
  double value = .5 * repulsion(0, n) * density[i * n + i];
  for (int64_t k = 0; k < n; k++)
    if (k != i)
      value += repulsion(llabs(i - k), n) * (density[k * n + k] - 1);
  return value;
}

/* A task is a row. */
static void build_fock(rg_array density, rg_array fock, rg_counter counter, int64_t n) {
  const int64_t zero[2] = {0, 0}, shape[2] = {n, n};
  double *all = (double *)malloc((size_t)(n * n) * sizeof *all),
         *row = (double *)malloc((size_t)n * sizeof *row);
  int64_t i;
  check(rg_counter_reset(counter));
  check(rg_array_get(density, zero, shape, all, NULL));
  for (check(rg_counter_next(counter, 1, &i)); i < n; check(rg_counter_next(counter, 1, &i))) {
    const int64_t lo[2] = {i, 0}, hi[2] = {i + 1, n};
    for (int64_t j = 0; j < n; j++)
      row[j] = element(all, i, j, n);
    check(rg_array_put(fock, lo, hi, row, NULL));
  }
  check(rg_array_sync(fock));
  free(row);
  free(all);
}

/* Two electrons in each of the n / 2 lowest states. */
static void fill_states(rg_array fock, rg_array vectors, rg_array density, int64_t n) {
  const double two = 2, zero = 0;
  const int64_t lo[2] = {0, 0}, hi[2] = {n, n / 2};
  double *values = (double *)malloc((size_t)n * sizeof *values);
  int64_t count;
  rg_linalg_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.last = n / 2;
  check(rg_linalg_eigen(fock, NULL, &options, values, &count, vectors));
  check(rg_array_multiply_patch(RG_FORM_NORMAL, RG_FORM_TRANSPOSED, &two, vectors, lo, hi, vectors,
                                lo, hi, &zero, density, NULL, NULL));
  free(values);
}

static int alternating_bonds(void *elements, int64_t count, const int64_t at[], void *context) {
  (void)context;
  for (int64_t k = 0; k < count; k++)
    ((double *)elements)[k] = at[1] + k == at[0] || at[1] + k == (at[0] ^ 1);
  return RG_SUCCESS;
}

/* What element() and hopping() give with the density, half of its trace; and the atoms' cores. */
static int add_hopping(void *elements, int64_t count, const int64_t at[], void *context) {
  const int64_t n = *(const int64_t *)context;
  for (int64_t k = 0; k < count; k++) {
    int64_t j = at[1] + k;
    double core = hopping(llabs(at[0] - j), n);
    if (at[0] == j)
      for (int64_t d = 1; d < n; d++)
        core -= repulsion(d, n);
    ((double *)elements)[k] += core;
  }
  return RG_SUCCESS;
}

static double energy_of(rg_array fock, rg_array density, rg_array work, int64_t n) {
  double trace, cores = 0;
  check(rg_array_copy(fock, work));
  check(rg_array_map(work, NULL, NULL, add_hopping, &n));
  check(rg_array_dot(work, density, &trace));
  for (int64_t d = 1; d < n; d++)
    cores += repulsion(d, n);
  return .5 * trace + .5 * cores * (double)n;
}

/* Of the ring with equal bonds, for n = 6, 10, 14, ... */
static double exact_energy(int64_t n) {
  double atom = .25 * repulsion(0, n);
  for (int64_t d = 1; d < n; d++) {
    double bond = 2 * sin(PI * (double)d / 2) / ((double)n * sin(PI * (double)d / (double)n));
    atom += bond * hopping(d, n) - .25 * bond * bond * repulsion(d, n);
  }
  return atom * (double)n;
}

static rg_array make(rg_group g, int64_t n) {
  const int64_t shape[2] = {n, n};
  rg_array a;
  check(rg_array_create_simple(g, RG_TYPE_DOUBLE, 2, shape, &a));
  return a;
}

/* Until the density stays; returns the energy. */
static double iterate(rg_group g, int64_t n, int *steps) {
  const double one = 1, minus = -1;
  double change = 1, energy;
  rg_array density = make(g, n), fock = make(g, n), vectors = make(g, n), old = make(g, n);
  rg_counter counter;
  check(rg_counter_create(g, &counter));
  check(rg_array_map(density, NULL, NULL, alternating_bonds, NULL));
  for (*steps = 0; *steps < 500 && change > 1e-11; ++*steps) {
    build_fock(density, fock, counter, n);
    check(rg_array_copy(density, old));
    fill_states(fock, vectors, density, n);
    check(rg_array_add(&one, density, &minus, old, old));
    check(rg_array_norm(old, RG_NORM_INFINITY, &change));
  }
  build_fock(density, fock, counter, n);
  energy = energy_of(fock, density, vectors, n);
  check(rg_counter_free(&counter));
  check(rg_array_free(&old));
  check(rg_array_free(&vectors));
  check(rg_array_free(&fock));
  check(rg_array_free(&density));
  return energy;
}

int main(int argc, char **argv) {
  rg_group world;
  int rank, steps;
  MPI_Init(&argc, &argv);
  int64_t n = argc > 1 ? atoll(argv[1]) : 62;
  if (n < 6 || n % 4 != 2) {
    fprintf(stderr, "usage: %s [atoms: 6, 10, 14, ...]\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  check(rg_init(MPI_COMM_WORLD, NULL));
  check(rg_group_world(&world));
  check(rg_group_rank(world, &rank));
  double energy = iterate(world, n, &steps), exact = exact_energy(n);
  if (rank == 0)
    printf("%lld atoms: energy %.9f eV after %d steps, exact %.9f eV\n", (long long)n, energy,
           steps, exact);
  check(rg_group_free(&world));
  check(rg_finalize());
  MPI_Finalize();
  return fabs(energy - exact) < 1e-8 * (double)n ? 0 : 1;
}

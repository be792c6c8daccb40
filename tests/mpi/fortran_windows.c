/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The part of fortran_windows.f90 that calls MPI from C. */
#include <mpi.h>

void add_by_c(int win, int target, double number);
int make_by_c(int count);
double read_by_c(int win, int i);

void add_by_c(int win, int target, double number) {
  MPI_Accumulate(&number, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, MPI_SUM, MPI_Win_f2c(win));
  MPI_Win_flush_local(target, MPI_Win_f2c(win));
}

int make_by_c(int count) {
  double *base;
  MPI_Win win;
  MPI_Win_allocate((MPI_Aint)sizeof *base * count, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &base, &win);
  for (int i = 0; i < count; i++)
    base[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return (int)MPI_Win_c2f(win);
}

double read_by_c(int win, int i) {
  double *base;
  int flag;
  MPI_Win_get_attr(MPI_Win_f2c(win), MPI_WIN_BASE, &base, &flag);
  return base[i];
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An MPI program with unequal work: each group of two ranks works out one integral of
 * x^k over 0 to 1 after another, in steps, until it is accurate enough. Some need many
 * more steps than others. ../balanced is the same with balancing. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 8, POINTS = 20000 };

typedef struct {
  int power, step, steps;
  double sum;
} integral;

static integral first(int task) {
  integral f = {task, 0, 10 + 400 * (task % 4 == 3), 0};
  return f;
}

/* One step: every member of comm takes its share of the points. */
static void step(integral *f, MPI_Comm comm) {
  int rank, size;
  double part = 0, all, width = 1.0 / ((double)f->steps * POINTS);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = rank; i < POINTS; i += size)
    part += pow((f->step * (double)POINTS + i + 0.5) * width, f->power) * width;
  MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
  f->sum += all;
  f->step++;
}

static void print(const integral *f) {
  printf("the integral of x^%d is %.6f\n", f->power, f->sum);
}

int main(int argc, char **argv) {
  MPI_Comm group;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &group);
  int groups = (size + 1) / 2;
  for (int task = rank / 2; task < TASKS; task += groups) {
    integral f = first(task);
    while (f.step < f.steps)
      step(&f, group);
    if (rank % 2 == 0)
      print(&f);
  }
  MPI_Comm_free(&group);
  MPI_Finalize();
  return 0;
}

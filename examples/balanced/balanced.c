/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An MPI program with unequal work: each group of two ranks works out one integral of
 * x^k over 0 to 1 after another, in steps, until it is accurate enough. Some need many
 * more steps than others. This is ../unbalanced with balancing. */
#include <math.h>
#include <mpi.h>
#include <regroup.h>
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

static int unit(rg_walker *walker, rg_group g, void *context) {
  MPI_Comm comm;
  (void)context;
  int error = rg_group_comm(g, &comm);
  if (!error)
    step((integral *)walker->state, comm);
  return error;
}

static double left(const rg_walker *walker, void *context) {
  const integral *f = (const integral *)walker->state;
  (void)context;
  return f->steps - f->step;
}

static int add(rg_balancer balancer, int task) {
  integral f = first(task);
  rg_walker_new walker = {};
  walker.size = sizeof walker;
  walker.id = task;
  walker.left = f.steps;
  walker.state = &f;
  walker.bytes = sizeof f;
  return rg_balance_add(balancer, &walker);
}

int main(int argc, char **argv) {
  int rank;
  int64_t count = 0;
  rg_group world;
  rg_balancer b;
  rg_balance_options options = {};
  rg_walker_kind kind = {};
  const rg_balance_outcome *o;
  kind.size = sizeof kind;
  kind.bytes = sizeof(integral);
  kind.unit = unit;
  kind.left = left;
  options.size = sizeof options;
  options.group = 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int error = rg_init(MPI_COMM_WORLD, NULL) || rg_group_world(&world) ||
              rg_balance_create(world, &kind, &options, &b);
  for (int task = 0; task < TASKS && !error; task++)
    error = add(b, task);
  if (error || rg_balance_run(b) || rg_balance_gather(b, 0) || rg_balance_outcomes(b, &count, &o))
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int64_t i = 0; i < count && rank == 0; i++)
    print((const integral *)o[i].state);
  rg_balance_free(&b);
  rg_group_free(&world);
  rg_finalize();
  MPI_Finalize();
  return 0;
}

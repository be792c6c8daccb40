/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_ga_lost.py starts: a program on Global Arrays' interface, of which one process, the
 * argument, dies. The others recover the arrays and go on. */
#include <ga.h>
#include <mpi.h>
#include <regroup.h>
#include <regroup/ga.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };

static void check(int error) {
  if (error) {
    fprintf(stderr, "%s: %s\n", rg_error_name(error), rg_error_detail());
    abort();
  }
}

/* The group of the living, and the arrays on it. */
static void recover(rg_group *all) {
  rg_group left;
  int again = 0, code;
  do {
    check(rg_group_shrink(*all, &left));
    rg_group_free(all);
    *all = left;
    code = rg_ga_recover(left);
    again = code == RG_ERR_PROC_FAILED;
    check(again ? 0 : code);
  } while (again);
}

static double sum_of(int g) {
  double row[N], sum = 0;
  int lo = 0, hi = N - 1;
  NGA_Get(g, &lo, &hi, row, NULL);
  for (int i = 0; i < N; i++)
    sum += row[i];
  return sum;
}

int main(int argc, char **argv) {
  int n = N, lo, hi, code = 0;
  char name[] = "kept";
  double numbers[N];
  rg_group all;
  rg_array array;
  MPI_Init(&argc, &argv);
  GA_Initialize();
  check(rg_group_world(&all));
  int g = NGA_Create(C_DBL, 1, &n, name, NULL);
  NGA_Distribution(g, GA_Nodeid(), &lo, &hi);
  for (int i = lo; i <= hi; i++)
    numbers[i - lo] = i;
  NGA_Put(g, &lo, &hi, numbers, NULL);
  rg_ga_keep_failures(1); /* a process may die when others are still in this: */
  GA_Sync();
  if (GA_Nodeid() == atoi(argv[1]))
    raise(SIGKILL);
  while (!code) {
    GA_Sync();
    check(rg_ga_failure(&code));
  }
  recover(&all);
  rg_ga_keep_failures(0);
  check(rg_ga_array(g, &array));
  double sum = sum_of(g), all_sum = 1;
  GA_Dgop(&all_sum, 1, (char[]){"+"});
  if (GA_Nodeid() == 0)
    printf("KEPT %.0f of %d, %.0f\n", sum, GA_Nnodes(), all_sum);
  GA_Sync();
  GA_Destroy(g);
  check(rg_group_free(&all));
  GA_Terminate();
  MPI_Finalize();
  return argc != 2;
}

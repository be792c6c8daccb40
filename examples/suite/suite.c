/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The benchmark suite of docs/intercomm.md: written for MPI_COMM_WORLD, and
 * extended to inter-communicators. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TIMES 20

static double barrier(rg_inter_view view) {
  double start = MPI_Wtime();
  for (int i = 0; i < TIMES; i++)
    MPI_Barrier(view.benchmark);
  return MPI_Wtime() - start;
}

static double bcast(rg_inter_view view) {
  int value = 0, root;
  rg_inter_root(0, &root);
  double start = MPI_Wtime();
  for (int i = 0; i < TIMES; i++)
    MPI_Bcast(&value, 1, MPI_INT, root, view.benchmark);
  return MPI_Wtime() - start;
}

static double reduce_scatter_block(rg_inter_view view) {
  int *out = (int *)calloc((size_t)view.combined_size, sizeof *out);
  int *in = (int *)calloc((size_t)view.combined_size, sizeof *in);
  double start = MPI_Wtime();
  for (int i = 0; i < TIMES; i++)
    MPI_Reduce_scatter_block(out, in, (int)(view.combined_size / view.local_size), MPI_INT, MPI_SUM,
                             view.benchmark);
  double time = MPI_Wtime() - start;
  free(out);
  free(in);
  return time;
}

static double scan(rg_inter_view view) {
  int mine = 1, sum;
  double start = MPI_Wtime();
  for (int i = 0; i < TIMES; i++)
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, view.benchmark);
  return MPI_Wtime() - start;
}

static void measure(rg_inter_view view, const char *name, double (*kernel)(rg_inter_view)) {
  double mine, longest;
  if (rg_inter_check(name)) {
    if (view.io)
      printf("%s\n", rg_error_detail());
    return;
  }
  MPI_Barrier(view.global);
  mine = kernel(view);
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, view.global);
  if (view.io)
    printf("%-24s %4d and %4d processes %10.2f us\n", name, view.initiator_size,
           view.responder_size, longest / TIMES * 1e6);
}

int main(int argc, char **argv) {
  rg_inter_options how = {};
  rg_inter_view v = {};
  int part = 0;
  how.size = sizeof how;
  v.size = sizeof v;
  MPI_Init(&argc, &argv);
  if (rg_inter_parse(&argc, argv, &how) || rg_inter_start(&how, &part)) {
    fprintf(stderr, "%s\n%s", rg_error_detail(), rg_inter_help());
    sleep(1); /* so that mpiexec has read the line when it ends the job */
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (part) {
    rg_inter_get_view(&v);
    measure(v, "MPI_Barrier", barrier);
    measure(v, "MPI_Bcast", bcast);
    measure(v, "MPI_Reduce_scatter_block", reduce_scatter_block);
    measure(v, "MPI_Scan", scan);
  }
  rg_inter_end();
  MPI_Finalize();
  return 0;
}

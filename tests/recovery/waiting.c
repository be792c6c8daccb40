/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_patience.py starts, with RG_SURVIVE=1: waiting CASE [SECONDS]. Rank 1 dies, and then
 *   mpi      the others wait for it inside MPI, for ever
 *   compute  rank 0 computes for so long, the others wait for it inside MPI
 *   sleep    the same, but rank 0 waits for something that is not of this job
 *   stop     the same, but rank 0 stops itself; somebody makes it go on
 * or nobody dies:
 *   stopped  rank 1 stops itself, and is taken for dead if RG_STOPPED says so
 * In the end the survivors shrink, and their rank 0 prints "SURVIVED members". */
#include <mpi.h>
#include <regroup.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static const char *what;

static void must(int right, const char *text) {
  if (right)
    return;
  fprintf(stderr, "rank %d, %s: %s: %s\n", rank, what, text, rg_error_detail());
  exit(3);
}

static int is(const char *name) {
  return strcmp(what, name) == 0;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What keeps rank 0 from calling the library. */
static void be_busy(double seconds) {
  double begin = now();
  if (is("stop"))
    raise(SIGSTOP);
  if (is("sleep"))
    usleep((useconds_t)(1e6 * seconds));
  while (is("compute") && now() - begin < seconds)
    continue;
}

/* Ranks 2 and up wait for rank 0 inside MPI. */
static void wait_in_mpi(double seconds) {
  int token = 0;
  if (is("mpi"))
    MPI_Recv(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) {
    be_busy(seconds);
    for (int i = 2; i < size; i++)
      MPI_Send(&token, 1, MPI_INT, i, 7, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  rg_group world, left;
  int n, me;
  what = argc > 1 ? argv[1] : "mpi";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  must(!rg_init(MPI_COMM_WORLD, NULL) && !rg_group_world(&world), "rg_init");
  int error = rg_barrier(world);
  must(!error || error == RG_ERR_PROC_FAILED, "rg_barrier");
  if (rank == 1)
    raise(is("stopped") ? SIGSTOP : SIGKILL);
  else if (!is("stopped"))
    wait_in_mpi(argc > 2 ? atof(argv[2]) : 0);
  must(rg_barrier(world) == RG_ERR_PROC_FAILED, "rg_barrier with the dead");
  must(!rg_group_shrink(world, &left) && !rg_barrier(left), "rg_group_shrink");
  rg_group_rank(left, &me);
  rg_group_size(left, &n);
  if (me == 0)
    printf("SURVIVED %d\n", n);
  rg_group_free(&left);
  rg_group_free(&world);
  must(!rg_finalize(), "rg_finalize");
  MPI_Finalize();
  return 0;
}

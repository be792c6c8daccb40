/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_patience.py starts, with RG_SURVIVE=1: waiting CASE [SECONDS]. Rank 1 dies, and then
 *   mpi      the others wait for it inside MPI, for ever
 *   barrier  rank 0 does, and the others wait for rank 0 in MPI_Barrier
 *   compute  rank 0 computes for so long, the others wait for it inside MPI
 *   sleep    the same, but rank 0 sleeps
 *   stop     the same, but rank 0 stops itself, until the test continues it
 * or no rank dies:
 *   stopped  rank 1 stops itself, and is killed if RG_STOPPED says so
 * In the end the survivors shrink, and their rank 0 prints "SURVIVED members". */
#include "ranks.h"

static const char *what;
static MPI_Comm living; /* all but rank 1 */

static int is(const char *name) {
  return strcmp(what, name) == 0;
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

/* Ranks 2 and up wait for rank 0. */
static void wait_in_mpi(double seconds) {
  int token = 0;
  if (is("barrier") && my_rank > 1)
    MPI_Barrier(living);
  if (is("mpi") || is("barrier"))
    MPI_Recv(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (my_rank == 0) {
    be_busy(seconds);
    for (int i = 2; i < world_size; i++)
      MPI_Send(&token, 1, MPI_INT, i, 7, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv);
  what = argc > 1 ? argv[1] : "mpi";
  MPI_Comm_split(MPI_COMM_WORLD, my_rank == 1, 0, &living);
  MPI_Barrier(living); /* a preloaded library makes what it needs */
  all_here(g);
  if (my_rank == 1)
    raise(is("stopped") ? SIGSTOP : SIGKILL);
  else if (!is("stopped"))
    wait_in_mpi(argc > 2 ? atof(argv[2]) : 0);
  must(rg_barrier(g) == RG_ERR_PROC_FAILED, "rg_barrier with the dead");
  drop_dead(&g);
  must(!rg_barrier(g), "rg_barrier of the survivors");
  if (rank_in(g) == 0)
    printf("SURVIVED %d\n", size_of(g));
  leave_world(&g);
  return 0;
}

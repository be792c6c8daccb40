/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_creation.py starts, with RG_SURVIVE=1: creation DEATHS SEED MICROSECONDS. All ranks
 * create communicators, and one of them is killed at any moment. The others get an error, shrink,
 * and create communicators that work. That happens DEATHS times; then rank 0 of the survivors
 * prints "CREATED members". Or, by soak.py: creation ROUNDS, with deaths from outside; it prints a
 * RESULT. */
#include "ranks.h"

#define AFTERWARDS 20

static int used; /* communicators that were created and used */

static int create(rg_group g, int use) {
  rg_group copy;
  MPI_Comm comm;
  must(!rg_group_dup(g, &copy), "rg_group_dup");
  int error = survivable(rg_group_comm(copy, &comm), "rg_group_comm");
  if (!error && use) {
    int n = size_of(g), me = rank_in(g), size, rank, sum, told = me ? -1 : 4711 + used;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    must(size == n && rank == me, "the communicator has other ranks than the group");
    MPI_Bcast(&told, 1, MPI_INT, 0, comm);
    must(told == 4711 + used++, "MPI_Bcast is wrong");
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    must(sum == n * (n - 1) / 2, "MPI_Allreduce is wrong");
  }
  rg_group_free(&copy);
  return error;
}

/* The survivors' group. */
static rg_group lose_one(rg_group g, uint64_t chance, uint64_t most) {
  if ((int)(chance % (uint64_t)size_of(g)) == rank_in(g))
    kill_later(mix(chance) % most);
  for (round_now = 0; !create(g, 0); round_now++)
    ;
  drop_dead(&g);
  for (int i = 0; i < AFTERWARDS; i++)
    must(!create(g, 1), "rg_group_comm of the survivors");
  return g;
}

static void lose_some(rg_group *g, int rounds) {
  while (round_now < rounds)
    round_now += is_done(g, create(*g, 0));
  tell_last(g, print_result);
}

static void lose_each(rg_group *g, int deaths, uint64_t seed, uint64_t most) {
  MPI_Barrier(MPI_COMM_WORLD); /* a death before all have returned from rg_init ends the job */
  for (int i = 0; i < deaths; i++)
    *g = lose_one(*g, mix(seed * 100 + (uint64_t)i), most);
  must(!rg_barrier(*g), "rg_barrier");
  if (rank_in(*g) == 0)
    printf("CREATED %d\n", size_of(*g));
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv);
  must(argc == 2 || argc == 4, "creation ROUNDS, or DEATHS SEED MICROSECONDS");
  if (argc == 2)
    lose_some(&g, atoi(argv[1]));
  else
    lose_each(&g, atoi(argv[1]), strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
  leave_world(&g);
  return 0;
}

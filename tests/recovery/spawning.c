/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_creation.py starts, with RG_SURVIVE=1: spawning ASIDE EACH ROUNDS SEED DEATHS
 * MICROSECONDS. ASIDE processes sleep in the reserve, and the others spawn EACH of them again and
 * again, while DEATHS processes are killed, at any moment: spawning or spawned. The others shrink,
 * and spawn again. Rank 0 of the survivors prints "SPAWNED members". */
#include "ranks.h"

/* The inter-communicator has both sides, and a message goes over it. */
static void greet(MPI_Comm inter, int here, int there) {
  int n, remote;
  MPI_Comm_size(inter, &n);
  MPI_Comm_remote_size(inter, &remote);
  must(n == here && (there < 0 || remote == there), "the inter-communicator has other ranks");
}

static void be_drawn(int each) {
  for (;;) {
    rg_acquisition d = {.size = sizeof d};
    must(!rg_reserve_park(&d), "rg_reserve_park");
    if (d.parent == MPI_COMM_NULL)
      return;
    greet(d.parent, each, -1);
    MPI_Comm_free(&d.parent);
  }
}

/* RG_ERR_RESERVE: those that were acquired have not gone back yet. */
static int spawn(rg_group g, int each) {
  MPI_Comm comm, inter = MPI_COMM_NULL;
  int error = survivable(rg_group_comm(g, &comm), "rg_group_comm");
  while (!error && inter == MPI_COMM_NULL) {
    error = rg_intercomm_spawn(comm, NULL, NULL, each, &inter);
    if (error == RG_ERR_RESERVE)
      error = RG_SUCCESS;
  }
  if (!survivable(error, "rg_intercomm_spawn")) {
    greet(inter, size_of(g), each);
    MPI_Comm_free(&inter);
  }
  return error;
}

static void print_spawned(rg_group g, char *text) {
  snprintf(text, LINE, "SPAWNED %d\n", size_of(g));
}

static void draw_them(rg_group g, int each, int rounds) {
  while (round_now < rounds)
    round_now += is_done(&g, spawn(g, each));
  tell_last(&g, print_spawned);
  rg_group_free(&g);
}

int main(int argc, char **argv) {
  rg_group world = enter_world(&argc, &argv), outside;
  must(argc == 7, "spawning ASIDE EACH ROUNDS SEED DEATHS MICROSECONDS");
  int each = atoi(argv[2]), rounds = atoi(argv[3]), deaths = atoi(argv[5]);
  must(!rg_reserve_open(atoi(argv[1]), &outside), "rg_reserve_open");
  /* On several nodes the last rank holds the reserve directory. */
  kill_some(deaths, world_size - 1, strtoull(argv[4], NULL, 10), strtoull(argv[6], NULL, 10));
  if (outside)
    draw_them(outside, each, rounds);
  else
    be_drawn(each);
  leave_world(&world);
  return 0;
}

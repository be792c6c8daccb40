/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 6 8 9
 * time: 60
 * Spawning and connecting out of the reserve. */
#include "inter_cases.h"

#include <regroup/reserve.h>
#include <regroup/runtime.h>
#include <stdio.h>
#include <string.h>

#include "regroup/group.h"

/* --kind=n with `aside` processes in reserve. */
static void draw(rg_inter_kind kind, int n, int aside) {
  int first = rgt_size - aside, part = -1;
  rg_inter_options how = {sizeof how, kind, n, NULL};
  char options[32];
  snprintf(options, sizeof options, "reserve=%d", aside);
  RGT_OK(rg_init(MPI_COMM_WORLD, options));
  RGT_OK(rg_inter_start(&how, &part));
  RGT_INT(part, rgt_rank < first + n);
  if (part == 1) {
    expected e = {kind, 1, first, n, rgt_rank < first, rgt_rank % first};
    e.rank = e.initiates ? rgt_rank : rgt_rank - first;
    check_all(&e);
  }
  RGT_OK(rg_inter_end());
  RGT_OK(rg_finalize());
}

static void test_spawn(void) {
  for (int aside = 1; aside < rgt_size; aside += 2)
    for (int n = 1; n <= aside; n += 2)
      draw(RG_INTER_SPAWN, n, aside);
}

static void test_connect(void) {
  for (int aside = 1; aside < rgt_size; aside += 2)
    for (int n = aside; n >= 1; n -= 2)
      draw(RG_INTER_CONNECT, n, aside);
}

/* More processes than sleep: the same error on all processes that work, and the others end. */
static void test_too_few(void) {
  for (int kind = RG_INTER_SPAWN; kind <= RG_INTER_CONNECT; kind++) {
    rg_inter_options how = {sizeof how, (rg_inter_kind)kind, 2, NULL};
    int part = -1;
    RGT_OK(rg_init(MPI_COMM_WORLD, "reserve=1"));
    if (rgt_rank < rgt_size - 1) {
      RGT_FAILS(rg_inter_start(&how, &part), RG_ERR_RESERVE);
      RGT_TRUE(strstr(rg_error_detail(), "RG_RESERVE"));
      RGT_INT(part, -1);
    } else {
      RGT_OK(rg_inter_start(&how, &part));
      RGT_INT(part, 0);
    }
    RGT_OK(rg_inter_end());
    RGT_OK(rg_finalize());
  }
}

/* A message each way between rank 0 of both sides. */
static void greet(MPI_Comm inter, int mine, int theirs) {
  int got = -1, rank;
  MPI_Comm_rank(inter, &rank);
  if (rank == 0) {
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
    RGT_INT(got, theirs);
  }
}

/* A process in reserve, in a program that spawns at any time. Returns how often it was acquired. */
static int be_drawn(void) {
  for (int times = 0;; times++) {
    rg_acquisition d = {.size = sizeof d}, again = {.size = sizeof again};
    int size = -1, remote = -1;
    RGT_OK(rg_reserve_park(&d));
    RGT_OK(rg_reserve_acquisition(&again));
    RGT_TRUE(d.world == again.world && d.parent == again.parent && d.group == again.group);
    RGT_PTR_NULL(d.group);
    if (d.parent == MPI_COMM_NULL)
      return times;
    MPI_Comm_size(d.world, &size);
    MPI_Comm_remote_size(d.parent, &remote);
    greet(d.parent, size, remote);
    MPI_Comm_disconnect(&d.parent);
  }
}

static void spawn_some(MPI_Comm comm, int n) {
  MPI_Comm inter;
  int size, remote = -1;
  MPI_Comm_size(comm, &size);
  RGT_OK(rg_intercomm_spawn(comm, NULL, NULL, n, &inter));
  MPI_Comm_remote_size(inter, &remote);
  RGT_INT(remote, n);
  greet(inter, size, n);
  MPI_Comm_disconnect(&inter);
}

/* Every process by itself, and all together, again and again. */
static void test_spawning(void) {
  int aside = (rgt_size + 1) / 2, out = rgt_size - aside, each = aside / out;
  rg_group g;
  MPI_Comm comm, inter = MPI_COMM_NULL;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_reserve_open(aside, &g));
  if (g) {
    RGT_OK(rg_group_comm(g, &comm));
    spawn_some(comm, aside);
    for (int there = 0; there < aside;) /* they park again one by one */
      RGT_OK(rg_reserve_count(&there));
    MPI_Barrier(comm);
    spawn_some(MPI_COMM_SELF, each);
    RGT_FAILS(rg_intercomm_spawn(comm, NULL, NULL, aside + 1, &inter), RG_ERR_RESERVE);
    RGT_FAILS(rg_intercomm_spawn(comm, NULL, NULL, 0, &inter), RG_ERR_ARG);
    RGT_FAILS(rg_intercomm_spawn(MPI_COMM_NULL, NULL, NULL, 1, &inter), RG_ERR_COMM);
    RGT_FAILS(rg_intercomm_spawn(comm, NULL, NULL, 1, NULL), RG_ERR_ARG);
    RGT_OK(rg_group_free(&g));
  } else {
    RGT_TRUE(be_drawn() >= 1);
  }
  RGT_OK(rg_finalize());
}

/* What a child program asks for. */
static void test_parent(void) {
  MPI_Comm world = MPI_COMM_NULL, parent = MPI_COMM_NULL;
  int started = -1, size;
  RGT_OK(rg_init(MPI_COMM_WORLD, "reserve=1"));
  RGT_OK(rg_intercomm_parent(&world, &parent, &started));
  RGT_INT(started, 1);
  MPI_Comm_size(world, &size);
  if (rgt_rank < rgt_size - 1) {
    RGT_INT(size, rgt_size - 1);
    RGT_TRUE(parent == MPI_COMM_NULL);
    spawn_some(world, 1);
  } else {
    RGT_INT(size, 1);
    greet(parent, 1, rgt_size - 1);
    MPI_Comm_disconnect(&parent);
  }
  RGT_OK(rg_finalize());
  RGT_OK(rg_finalize());
  RGT_OK(rg_intercomm_parent(&world, &parent, &started));
  RGT_TRUE(world == MPI_COMM_WORLD && parent == MPI_COMM_NULL && started == 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"spawn", test_spawn},
                                   {"connect", test_connect},
                                   {"too few", test_too_few},
                                   {"spawning again and again", test_spawning},
                                   {"what a child asks", test_parent},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "inter_drawn", tests);
}

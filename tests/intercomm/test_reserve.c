/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1 2 3 4 7
 * time: 60
 * Processes in reserve: parking, growing, several groups that acquire at once. */
#include <regroup/collectives.h>
#include <regroup/p2p.h>
#include <regroup/reserve.h>
#include <regroup/runtime.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int count_sleeping(void) {
  int n = -1;
  RGT_OK(rg_reserve_count(&n));
  return n;
}

static int size_of(rg_group g) {
  int size = -1;
  RGT_OK(rg_group_size(g, &size));
  return size;
}

/* g works, with all its members. */
static void check_group(rg_group g, int size) {
  int rank, one = 1, sum = 0, valid = 0;
  RGT_OK(rg_group_is_valid(g, &valid));
  RGT_INT(valid, 1);
  RGT_INT(size_of(g), size);
  RGT_OK(rg_group_rank(g, &rank));
  RGT_OK(rg_allreduce(g, &one, &sum, 1, MPI_INT, MPI_SUM));
  RGT_INT(sum, size);
}

/* A process in reserve: it helps each group that acquires it, until the reserve ends. Returns how
 * often. */
static int help(void) {
  rg_acquisition d = {.size = sizeof d};
  int times = 0;
  for (;; times++) {
    RGT_OK(rg_reserve_park(&d));
    if (!d.group)
      return times;
    RGT_TRUE(d.world == MPI_COMM_NULL && d.parent == MPI_COMM_NULL);
    check_group(d.group, size_of(d.group));
    RGT_OK(rg_group_free(&d.group));
  }
}

static void test_grow(void) {
  for (int aside = 1; aside < rgt_size; aside++) {
    rg_group g, grown;
    RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
    RGT_OK(rg_reserve_open(aside, &g));
    RGT_TRUE((g != NULL) == (rgt_rank < rgt_size - aside));
    if (g) {
      int there = count_sleeping(), members[64];
      RGT_OK(rg_barrier(g)); /* all have counted */
      RGT_TRUE(there == aside || there == aside - 1);
      if (there > 0) {
        RGT_OK(rg_group_grow(g, there, &grown));
        check_group(grown, rgt_size - aside + there);
        RGT_OK(rg_group_members(grown, members));
        for (int i = 0; i < size_of(grown); i++)
          RGT_INT(members[i], i);
        RGT_OK(rg_group_free(&grown));
      }
      RGT_OK(rg_group_free(&g));
    } else {
      RGT_TRUE(help() <= 1);
    }
    RGT_OK(rg_finalize());
  }
}

/* More than there are: an error at once on every member, and no process is lost. */
static void test_too_many(void) {
  rg_group g, grown = NULL;
  if (rgt_size < 3)
    return;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_reserve_open(1, &g));
  if (g) {
    RGT_FAILS(rg_group_grow(g, 2, &grown), RG_ERR_RESERVE);
    RGT_TRUE(strstr(rg_error_detail(), "RG_RESERVE"));
    RGT_FAILS(rg_group_grow(g, 1000000, &grown), RG_ERR_RESERVE);
    RGT_FAILS(rg_group_grow(g, 0, &grown), RG_ERR_ARG);
    RGT_FAILS(rg_group_grow(g, -1, &grown), RG_ERR_ARG);
    RGT_PTR_NULL(grown);
    check_group(g, rgt_size - 1);
    if (count_sleeping() == 1) {
      RGT_OK(rg_barrier(g));
      RGT_OK(rg_group_grow(g, 1, &grown));
      RGT_FAILS(rg_group_grow(g, 1, &(rg_group){NULL}), RG_ERR_RESERVE);
      check_group(grown, rgt_size);
      RGT_OK(rg_group_free(&grown));
    }
    RGT_OK(rg_group_free(&g));
  } else {
    help();
  }
  RGT_OK(rg_finalize());
}

static unsigned long long next(unsigned long long *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Groups of one acquire random numbers of processes, all at the same time, and release them. They
 * never get more than there are, which the sum at the end shows. */
static void acquire_at_random(rg_group alone, int rounds, int aside, unsigned long long *state,
                              int *acquired) {
  for (int i = 0; i < rounds; i++) {
    int n = 1 + (int)(next(state) % (unsigned)aside);
    rg_group grown;
    int error = rg_group_grow(alone, n, &grown);
    RGT_TRUE(error == RG_SUCCESS || error == RG_ERR_RESERVE);
    if (error)
      continue;
    *acquired += n;
    check_group(grown, 1 + n);
    RGT_OK(rg_group_free(&grown));
  }
}

static void test_concurrent(void) {
  int aside = rgt_size / 2, acquired = 0, helped = 0, sums[2], mine[2];
  unsigned long long state = rgt_seed() * 2654435761u + (unsigned)rgt_rank + 1;
  if (rgt_size < 2)
    return;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  rg_group world, g;
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_reserve_open(aside, &g));
  if (g) {
    rg_group alone;
    RGT_OK(rg_group_create_range(world, rgt_rank, rgt_rank, 1, 0, &alone));
    acquire_at_random(alone, 30, aside, &state, &acquired);
    RGT_OK(rg_group_free(&alone));
    /* The working processes go to sleep one after the other; the first one leaves. */
    if (rgt_rank % 2)
      helped = help();
    RGT_OK(rg_group_free(&g));
  } else {
    helped = help();
  }
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  mine[0] = acquired, mine[1] = helped;
  MPI_Allreduce(mine, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  RGT_INT(sums[0], sums[1]); /* as many were acquired as have helped */
}

static void test_errors(void) {
  rg_group g = NULL, grown = NULL;
  rg_acquisition d = {.size = sizeof d};
  int n;
  RGT_FAILS(rg_reserve_open(1, &g), RG_ERR_NOT_INIT);
  RGT_FAILS(rg_reserve_park(&d), RG_ERR_NOT_INIT);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_FAILS(rg_reserve_open(rgt_size, &g), RG_ERR_ARG);
  RGT_FAILS(rg_reserve_open(-5, &g), RG_ERR_ARG);
  RGT_FAILS(rg_reserve_open(0, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_reserve_park(&d), RG_ERR_UNSUPPORTED);
  RGT_TRUE(strstr(rg_error_detail(), "RG_RESERVE"));
  RGT_FAILS(rg_reserve_leave(), RG_ERR_UNSUPPORTED);
  RGT_FAILS(rg_reserve_count(&n), RG_ERR_UNSUPPORTED);
  RGT_FAILS(rg_reserve_acquisition(&d), RG_ERR_UNSUPPORTED);
  RGT_OK(rg_reserve_open(RG_RESERVE_OPTION, &g)); /* RG_RESERVE is 0 */
  RGT_INT(size_of(g), rgt_size);
  RGT_FAILS(rg_group_grow(g, 1, &grown), RG_ERR_UNSUPPORTED);
  RGT_FAILS(rg_group_grow(NULL, 1, &grown), RG_ERR_GROUP);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
}

/* A process that may still be acquired cannot leave. */
static void test_leaving(void) {
  rg_group g, again = NULL;
  rg_acquisition d = {.size = sizeof d};
  if (rgt_size < 2)
    return;
  RGT_OK(rg_init(MPI_COMM_WORLD, "reserve=1"));
  RGT_OK(rg_reserve_open(RG_RESERVE_OPTION, &g));
  RGT_FAILS(rg_reserve_open(1, &again), RG_ERR_INIT);
  if (g) {
    RGT_INT(size_of(g), rgt_size - 1);
    RGT_OK(rg_reserve_leave());
    RGT_OK(rg_reserve_leave());
    RGT_FAILS(rg_reserve_park(&d), RG_ERR_RESERVE);
    RGT_OK(rg_group_free(&g));
  } else {
    RGT_FAILS(rg_reserve_leave(), RG_ERR_RESERVE);
    RGT_FAILS(rg_finalize(), RG_ERR_RESERVE);
    RGT_INT(help(), 0);
    RGT_INT(help(), 0); /* the reserve has ended */
    RGT_OK(rg_reserve_acquisition(&d));
    RGT_TRUE(!d.group && d.world == MPI_COMM_NULL && d.parent == MPI_COMM_NULL);
  }
  RGT_OK(rg_finalize());
}

/* On one node all can be acquired; on several all but the directory's holder. */
static void test_holder(void) {
  int aside = rgt_size - 1, nodes = getenv("MPIR_CVAR_NUM_CLIQUES") != NULL;
  rg_group g;
  if (rgt_size < 2)
    return;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_reserve_open(aside, &g));
  if (g)
    RGT_INT(count_sleeping(), nodes ? aside - 1 : aside);
  else
    RGT_INT(help(), 0);
  RGT_OK(rg_group_free(&g));
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"grow", test_grow},
                                   {"too many", test_too_many},
                                   {"several at once", test_concurrent},
                                   {"errors", test_errors},
                                   {"leaving", test_leaving},
                                   {"holder", test_holder},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "reserve", tests);
}

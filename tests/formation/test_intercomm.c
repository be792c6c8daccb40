/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * ranks: 1 2 3 4 7
 * Inter-communicators by the members of two groups alone. */
#include "comm_cases.h"

static const rg_comm_method methods[] = {RG_METHOD_RECURSIVE, RG_METHOD_NATIVE};
#define METHODS 2

static void check(int n, const int mine[], int m, const int other[], int tag,
                  rg_comm_method method) {
  MPI_Group local = group_of(n, mine), remote = group_of(m, other);
  MPI_Comm comm = MPI_COMM_SELF;
  int inter = 0, size, rank, got[RANKS_MOST];
  RGT_OK(rg_intercomm_create_group(MPI_COMM_WORLD, local, remote, tag, method, &comm));
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_test_inter(comm, &inter);
    RGT_TRUE(inter);
    MPI_Comm_rank(comm, &rank);
    RGT_INT(rank, place_of(n, mine, rgt_rank));
    MPI_Comm_remote_size(comm, &size);
    RGT_INT(size, m);
    MPI_Allgather(&rgt_rank, 1, MPI_INT, got, 1, MPI_INT, comm);
    for (int i = 0; i < m; i++)
      RGT_INT(got[i], other[i]);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&local);
  MPI_Group_free(&remote);
}

/* Every cut of the world into two, in both roles; the last rank stays out. */
static void test_cuts(void) {
  int a[RANKS_MOST], b[RANKS_MOST];
  for (int m = 0; m < METHODS; m++)
    for (int cut = 1; cut < rgt_size - 1; cut++) {
      for (int i = 0; i < cut; i++)
        a[i] = cut - 1 - i;
      for (int i = cut; i < rgt_size - 1; i++)
        b[i - cut] = i;
      if (rgt_rank < cut)
        check(cut, a, rgt_size - 1 - cut, b, cut, methods[m]);
      else if (rgt_rank < rgt_size - 1)
        check(rgt_size - 1 - cut, b, cut, a, cut, methods[m]);
    }
}

static void test_neither(void) {
  MPI_Comm comm = MPI_COMM_SELF;
  int zero = 0, one = rgt_size > 1;
  MPI_Group a = group_of(1, &zero), b = group_of(1, &one);
  if (rgt_rank > 1) {
    RGT_OK(rg_intercomm_create_group(MPI_COMM_WORLD, a, b, 0, RG_METHOD_AUTO, &comm));
    RGT_TRUE(comm == MPI_COMM_NULL);
  }
  comm = MPI_COMM_SELF;
  RGT_OK(rg_intercomm_create_group(MPI_COMM_WORLD, a, MPI_GROUP_EMPTY, 0, RG_METHOD_AUTO, &comm));
  RGT_TRUE(comm == MPI_COMM_NULL);
  MPI_Group_free(&a);
  MPI_Group_free(&b);
}

static void test_wrong_sides(void) {
  MPI_Comm comm = MPI_COMM_SELF;
  MPI_Group world, mine = group_of(1, &rgt_rank);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  RGT_FAILS(rg_intercomm_create_group(MPI_COMM_WORLD, world, mine, 0, RG_METHOD_AUTO, &comm),
            RG_ERR_GROUP);
  if (rgt_size > 1) {
    int other = (rgt_rank + 1) % rgt_size;
    MPI_Group theirs = group_of(1, &other);
    RGT_FAILS(rg_intercomm_create_group(MPI_COMM_WORLD, theirs, mine, 0, RG_METHOD_AUTO, &comm),
              RG_ERR_GROUP);
    MPI_Group_free(&theirs);
  }
  RGT_TRUE(comm == MPI_COMM_SELF);
  MPI_Group_free(&mine);
  MPI_Group_free(&world);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"all cuts", test_cuts},
                                   {"in neither group", test_neither},
                                   {"wrong sides", test_wrong_sides},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "intercomm", tests);
}

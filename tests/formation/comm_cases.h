/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Helpers of the tests of communicators and groups. */
#ifndef COMM_CASES_H
#define COMM_CASES_H

#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "tests/check/check.h"

#define RANKS_MOST 64

/* The MPI group of n ranks of MPI_COMM_WORLD. */
static inline MPI_Group group_of(int n, const int ranks[]) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, n, ranks, &group);
  MPI_Group_free(&world);
  return group;
}

static inline int place_of(int n, const int ranks[], int rank) {
  for (int i = 0; i < n; i++)
    if (ranks[i] == rank)
      return i;
  return -1;
}

/* comm has exactly these ranks of the world, in this order, and works. */
static inline void expect_comm(MPI_Comm comm, int n, const int ranks[]) {
  int size, rank, all[RANKS_MOST];
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  RGT_INT(size, n);
  RGT_INT(rank, place_of(n, ranks, rgt_rank));
  MPI_Allgather(&rgt_rank, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int i = 0; i < n; i++)
    RGT_INT(all[i], ranks[i]);
}

/* n distinct ranks of the world, drawn alike on all ranks. */
static inline int draw_ranks(int ranks[]) {
  int n = 1 + (int)(random() % rgt_size);
  for (int i = 0; i < rgt_size; i++)
    ranks[i] = i;
  for (int i = 0; i < n; i++) {
    int j = i + (int)(random() % (rgt_size - i)), t = ranks[i];
    ranks[i] = ranks[j];
    ranks[j] = t;
  }
  return n;
}

#endif

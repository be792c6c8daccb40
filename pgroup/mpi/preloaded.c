/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The children of rank r are 2 r + 1 and 2 r + 2. A part of the tree that is cut off by processes
 * without the library has a neighbour of one of those in it, so that all of the part learns it. */
#include "mpi/preloaded.h"

#include <mpi.h>

#include "mpich/mpich.h"

#define TAG 29541

static int marks; /* the launcher takes marks, and this process has left its own */

void rgi_preloaded_tell(void) {
  static int told;
  if (!told++)
    marks = rgi_mpich_pmi_mark();
}

enum { CHILDREN = 2 };

typedef struct {
  int parent, child[CHILDREN]; /* those that have the library, or -1 */
  int missing;                 /* the least rank that lacks it, of those found so far; or INT_MAX */
} neighbours;

static const int none_missing = 0x7fffffff;

static int look_at(neighbours *near, int rank, int size) {
  if (rank < 0 || rank >= size)
    return -1;
  if (rgi_mpich_pmi_has_marked(rank))
    return rank;
  near->missing = rank < near->missing ? rank : near->missing;
  return -1;
}

static void tell_up(neighbours *near) {
  for (int i = 0; i < CHILDREN; i++) {
    int theirs;
    if (near->child[i] < 0)
      continue;
    PMPI_Recv(&theirs, 1, MPI_INT, near->child[i], TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    near->missing = theirs < near->missing ? theirs : near->missing;
  }
  if (near->parent >= 0) {
    PMPI_Send(&near->missing, 1, MPI_INT, near->parent, TAG, MPI_COMM_WORLD);
    PMPI_Recv(&near->missing, 1, MPI_INT, near->parent, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void tell_down(const neighbours *near) {
  for (int i = 0; i < CHILDREN; i++)
    if (near->child[i] >= 0)
      PMPI_Send(&near->missing, 1, MPI_INT, near->child[i], TAG, MPI_COMM_WORLD);
}

int rgi_preloaded_find_missing(int *first) {
  int rank, size;
  neighbours near = {.missing = none_missing};
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!marks || size == 1)
    return -1;
  near.parent = look_at(&near, rank ? (rank - 1) / CHILDREN : -1, size);
  for (int i = 0; i < CHILDREN; i++)
    near.child[i] = look_at(&near, CHILDREN * rank + 1 + i, size);
  tell_up(&near);
  tell_down(&near);
  *first = near.parent < 0;
  return near.missing == none_missing ? -1 : near.missing;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where something is measured: on the first ranks of the job, by a communicator and by
 * a group; where the job is two groups, on the initiators. */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

#include <mpi.h>
#include <regroup.h>

#include "runtime/program/program.h"

#define BENCH_PLACES 64

typedef struct {
  int ranks;      /* how many */
  int member;     /* whether this process is one of them; rank is its rank then */
  int rank;       /* in the job and, for members, in communicator and group */
  int nodes;      /* that the members are on; known to members where there are two groups */
  MPI_Comm comm;  /* MPI_COMM_NULL where this is no member */
  rg_group group; /* NULL where this is no member */
} bench_place;

/* Collective over the job; 1 <= ranks <= its size, not looked at where there are two
 * groups. Returns what the library returned. */
int bench_place_begin(bench_place *p, int ranks);
void bench_place_end(bench_place *p);

/* Parts the value of --ranks: numbers from least to those of the job; NULL: all of the
 * job, and nothing else where there are two groups. Returns how many, or -1 after writing what is
 * wrong to why. */
int bench_places(const char *text, int least, int out[BENCH_PLACES], char why[RGP_TEXT]);

#endif

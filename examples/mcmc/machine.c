/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "machine.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char node[MPI_MAX_PROCESSOR_NAME];
  cpu_set_t processors;
} place;

static void my_place(place *p) {
  int length;
  memset(p, 0, sizeof *p);
  MPI_Get_processor_name(p->node, &length);
  if (sched_getaffinity(0, sizeof p->processors, &p->processors) != 0)
    CPU_SET(0, &p->processors);
}

int mcmc_one_node(MPI_Comm comm) {
  place mine;
  char first[MPI_MAX_PROCESSOR_NAME];
  my_place(&mine);
  memcpy(first, mine.node, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
  int same = strcmp(first, mine.node) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm);
  return same;
}

static int by_node(const void *a, const void *b) {
  return strcmp(((const place *)a)->node, ((const place *)b)->node);
}

int mcmc_processors(MPI_Comm comm) {
  int size, count = 0;
  place mine;
  MPI_Comm_size(comm, &size);
  place *all = malloc(sizeof *all * (size_t)size);
  if (!all)
    MPI_Abort(comm, 1);
  my_place(&mine);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, comm);
  qsort(all, (size_t)size, sizeof *all, by_node);
  for (int i = 0, next; i < size; i = next) {
    cpu_set_t together = all[i].processors;
    for (next = i + 1; next < size && by_node(&all[i], &all[next]) == 0; next++)
      CPU_OR(&together, &together, &all[next].processors);
    count += CPU_COUNT(&together);
  }
  free(all);
  return count;
}

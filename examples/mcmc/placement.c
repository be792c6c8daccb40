/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "placement.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A cpu_set_t has room for 1,024 processors, and the system call fails where the kernel has more:
 * Linux can be built for 8,192. */
#define SET_BYTES ((size_t)8192 / 8)

typedef struct {
  char node[MPI_MAX_PROCESSOR_NAME];
  cpu_set_t processors[SET_BYTES / sizeof(cpu_set_t)]; /* one set */
} rank_place;

static void find_place(rank_place *place) {
  int length;
  memset(place, 0, sizeof *place);
  MPI_Get_processor_name(place->node, &length);
  if (sched_getaffinity(0, SET_BYTES, place->processors) != 0)
    CPU_SET_S(0, SET_BYTES, place->processors);
}

int mcmc_placement_one_node(rg_group g, int *one) {
  rank_place mine;
  char first[MPI_MAX_PROCESSOR_NAME];
  find_place(&mine);
  memcpy(first, mine.node, sizeof first);
  int error = rg_bcast(g, first, sizeof first, MPI_CHAR, 0);
  *one = strcmp(first, mine.node) == 0;
  return error ? error : rg_allreduce(g, MPI_IN_PLACE, one, 1, MPI_INT, MPI_MIN);
}

static int by_node(const void *a, const void *b) {
  return strcmp(((const rank_place *)a)->node, ((const rank_place *)b)->node);
}

int mcmc_placement_processors(rg_group g, int *count) {
  int size;
  rank_place mine;
  rg_group_size(g, &size);
  rank_place *all = malloc(sizeof *all * (size_t)size);
  if (!all)
    MPI_Abort(MPI_COMM_WORLD, 1);
  *count = 0;
  find_place(&mine);
  int error = rg_allgather(g, &mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE);
  if (error) {
    free(all);
    return error;
  }
  qsort(all, (size_t)size, sizeof *all, by_node);
  for (int i = 0, next; i < size; i = next) {
    cpu_set_t *together = all[i].processors;
    for (next = i + 1; next < size && by_node(&all[i], &all[next]) == 0; next++)
      CPU_OR_S(SET_BYTES, together, together, all[next].processors);
    *count += CPU_COUNT_S(SET_BYTES, together);
  }
  free(all);
  return RG_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processes of a node may run on the union of their affinity masks, and no longer than the
 * limits of their control groups allow (cpu.max): processes of one group share its limit, those of
 * different ones, in a container for each, have theirs together. */
#include "runtime/node_processors.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/options.h"
#include "base/processors.h"
#include "progress/mpi_error.h"
#include "runtime/gather.h"
#include "shm/node.h"

static int by_group(const void *a, const void *b) {
  const rgi_cgroup_quota *x = a, *y = b;
  return (x->group > y->group) - (x->group < y->group);
}

int rgi_node_processors_limit(int processors, rgi_cgroup_quota *quota, int n) {
  int64_t all = 0;
  qsort(quota, (size_t)n, sizeof *quota, by_group);
  for (int i = 0; i < n && all < processors; i++) {
    if (!quota[i].processors)
      return processors;
    if (i == 0 || quota[i].group != quota[i - 1].group)
      all += quota[i].processors;
  }
  return all < processors ? (int)all : processors;
}

static int limit_processors(MPI_Comm node, const rgi_cgroup_quota *mine) {
  rgi_cgroup_quota *all;
  RGI_TRY(rgi_gather(node, rgi_node.n, "limits", mine, sizeof *mine, &all));
  rgi_node.processors = rgi_node_processors_limit(rgi_node.processors, all, rgi_node.n);
  free(all);
  return RG_SUCCESS;
}

int rgi_node_processors_find(MPI_Comm node) {
  rgi_processors mine, all = {{0}};
  rgi_cgroup_quota quota = rgi_cgroup_processors("");
  rgi_processors_mine(&mine);
  int facts[3] = {rgi_options_choice(RGI_OPT_OVERSUBSCRIBED), rgi_processors_words(&mine),
                  quota.processors > 0},
      most[3];
  RGI_TRY_MPI(MPI_Allreduce(facts, most, 3, MPI_INT, MPI_MAX, node));
  RGI_TRY_MPI(MPI_Allreduce(mine.word, all.word, most[1], MPI_UNSIGNED_LONG, MPI_BOR, node));
  rgi_node.processors = rgi_processors_count(&all);
  if (rgi_node.processors < 1)
    rgi_node.processors = 1;
  if (most[2])
    RGI_TRY(limit_processors(node, &quota));
  rgi_node.oversubscribed = most[0] ? most[0] == 1 : rgi_node.n > rgi_node.processors;
  return RG_SUCCESS;
}

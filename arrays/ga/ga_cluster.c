/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which processes are on which node, by their ranks among all. */
#include "ga/ga_group.h"
#include "ga/ga_handle.h"
#include "ga_core.h"

static int node_of(const char *call, int process) {
  int node;
  rgi_ga_error_check(call, 0, rg_group_node(rgi_ga_group_of(call, RGI_GA_WORLD), process, &node));
  return node;
}

int rgi_ga_cluster_nnodes(void) {
  int count;
  RGI_GA_TRY(0, rg_group_node_count(rgi_ga_group_of(__func__, RGI_GA_WORLD), &count));
  return count;
}

int rgi_ga_cluster_nodeid(void) {
  return node_of(__func__, rgi_ga_pgroup_nodeid(RGI_GA_WORLD));
}

int rgi_ga_cluster_proc_nodeid(int proc) {
  return node_of(__func__, proc);
}

/* The y-th process of node x, or, with y = -1, their number. Node -1 is the caller's. */
static int look(const char *call, int x, int y) {
  if (x == -1)
    x = rgi_ga_cluster_nodeid();
  int size = rgi_ga_pgroup_nnodes(RGI_GA_WORLD), seen = 0;
  for (int p = 0; p < size; p++)
    if (node_of(call, p) == x && seen++ == y)
      return p;
  if (y >= 0 || !seen)
    rgi_ga_error_end(call, 0, "node %d has no process %d", x, y < 0 ? 0 : y);
  return seen;
}

int rgi_ga_cluster_nprocs(int x) {
  return look(__func__, x, -1);
}

int rgi_ga_cluster_procid(int x, int y) {
  if (y < 0)
    rgi_ga_error_end(__func__, 0, "node %d has no process %d", x, y);
  return look(__func__, x, y);
}

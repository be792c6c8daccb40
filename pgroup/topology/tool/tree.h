/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A job's hierarchy as a tree of levels: each is a communicator that
 * rg_comm_hierarchy would make of the job. */
#ifndef TOPO_TREE_H
#define TOPO_TREE_H

#include "job.h"

#define TOPO_TREE_LABEL 96

typedef struct topo_tree_level {
  const char *type;            /* "Package" */
  char label[TOPO_TREE_LABEL]; /* "Package 1" */
  int also;                    /* resources shared by just the same ranks: their labels */
  char (*extra)[TOPO_TREE_LABEL];
  int count; /* ranks, ascending */
  int *ranks;
  int loose; /* those of them in no level below */
  int *loose_ranks;
  int below; /* levels below, by their lowest ranks */
  struct topo_tree_level **level;
} topo_tree_level;

/* The root is the whole job; below it are the levels that pass the filter. NULL for want of memory.
 */
topo_tree_level *topo_tree_build(const topo_job *job, int filter);
void topo_tree_free(topo_tree_level *root);

/* How many levels are below this one, at most. */
int topo_tree_depth(const topo_tree_level *level);

/* Ranks as "0-3,8", in at most `size` bytes; what is too long ends with "..". */
void topo_tree_ranks_text(int n, const int ranks[], char *text, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Algorithms: what one is given, what it needs, and one table for each operation, in the
 * operation's file. */
#ifndef RGI_ALGORITHM_H
#define RGI_ALGORITHM_H

#include <regroup/collectives.h>

#include "collectives/schedule/blocks.h"
#include "collectives/schedule/cost.h"
#include "collectives/schedule/sched.h"

/* One operation on dense bytes. What each operation uses of it:
 *   bcast                 out, bytes: the buffer, on all
 *   reduce, allreduce     in, out, bytes; in may be out; out at the root only
 *   scan, exscan          in, out, bytes; in is not out
 *   gather(v)             in, bytes: the own block (in NULL: it is in out already);
 *                         out, out_blocks at the root (gather: out_blocks.each on all)
 *   scatter(v)            in, in_blocks at the root; out, bytes: the own block (out
 *                         NULL: it is to stay in in)
 *   allgather(v)          as gather; out and out_blocks on all
 *   alltoall(v)           in, in_blocks, out, out_blocks
 *   reduce_scatter        in, in_blocks: all blocks; out, bytes: the own one
 * in is never written to, except where it is out. */
typedef struct {
  const char *in;
  char *out;
  size_t bytes;
  rgi_blocks in_blocks, out_blocks;
  int root;
} rgi_algorithm_args;

typedef void rgi_algorithm_builder(rgi_sched *sched, const rgi_subgroup *subgroup,
                                   const rgi_algorithm_args *args);

/* Constraints. */
enum {
  RGI_ALGORITHM_COMMUTES = 1,  /* the operation must commute */
  RGI_ALGORITHM_ONE_NODE = 2,  /* all members on one node, the call blocking, and a type whose
                        elements lie without gaps */
  RGI_ALGORITHM_NODES = 4,     /* members on several nodes; an operation that does not commute
                        needs consecutive ranks on each */
  RGI_ALGORITHM_UNEVEN = 8,    /* a builder that also takes blocks of different sizes */
  RGI_ALGORITHM_IN_ORDER = 16, /* consecutive ranks on each node, whatever the operation */
  RGI_ALGORITHM_DIVIDES = 32   /* combines a part of the vector at a time; one that needs one node
                       does so only beyond RGI_SHM_CHUNK bytes */
};

typedef struct rgi_algorithm {
  const char *name;
  rgi_algorithm_builder *build;
  unsigned needs;
  rgi_cost *cost;
  const char *formula;
} rgi_algorithm;

/* The tables, each defined in its operation's file; a row without a name ends a table. */
#define RGI_ALGORITHM_TABLE(name) extern const rgi_algorithm rgi_algorithms_##name[]
RGI_ALGORITHM_TABLE(barrier);
RGI_ALGORITHM_TABLE(bcast);
RGI_ALGORITHM_TABLE(reduce);
RGI_ALGORITHM_TABLE(allreduce);
RGI_ALGORITHM_TABLE(gather);
RGI_ALGORITHM_TABLE(gatherv);
RGI_ALGORITHM_TABLE(scatter);
RGI_ALGORITHM_TABLE(scatterv);
RGI_ALGORITHM_TABLE(allgather);
RGI_ALGORITHM_TABLE(allgatherv);
RGI_ALGORITHM_TABLE(alltoall);
RGI_ALGORITHM_TABLE(alltoallv);
RGI_ALGORITHM_TABLE(reduce_scatter);
RGI_ALGORITHM_TABLE(scan);
RGI_ALGORITHM_TABLE(exscan);
#undef RGI_ALGORITHM_TABLE

/* Whether operands are combined. */
static inline int rgi_algorithm_is_reduction(rg_operation op) {
  return op == RG_OP_REDUCE || op == RG_OP_ALLREDUCE || op == RG_OP_REDUCE_SCATTER ||
         op == RG_OP_SCAN || op == RG_OP_EXSCAN;
}

#endif

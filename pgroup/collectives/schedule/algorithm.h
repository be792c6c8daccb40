/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Algorithms: what one is given, what it needs, and one table for each operation, in the
 * operation's file. */
#ifndef RGI_ALGORITHM_H
#define RGI_ALGORITHM_H

#include <regroup/collectives.h>

#include "collectives/node/node_coll.h"
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
  rgi_way way; /* in shared memory */
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
  RGI_ALGORITHM_DIVIDES = 32,  /* combines a part of the vector at a time; one that needs one node
                       does so only beyond RGI_SHM_CHUNK bytes */
  /* Of the ways inside a node. */
  RGI_ALGORITHM_OF_MPI = 64,  /* an operation of MPI's */
  RGI_ALGORITHM_SPINS = 128,  /* a processor for each process */
  RGI_ALGORITHM_LEVELS = 256, /* such members form levels (shared/levels.h) */
  RGI_ALGORITHM_READS = 512,  /* the processes may read each other's memory */
  RGI_ALGORITHM_THREE = 1024, /* three members at least */
  RGI_ALGORITHM_EVEN = 2048,  /* blocks of the same size */
  RGI_ALGORITHM_SUITED = 4096 /* it serves only where it suits */
};

/* A call inside a node, as far as its way depends on it. */
typedef struct {
  size_t bytes, members; /* bytes: of a block, or of the whole vector */
  unsigned lacks;        /* the needs that are not met */
} rgi_algorithm_inside;

/* Whether a way that serves the call is chosen for it, if none before it in the table is. */
typedef int rgi_algorithm_suits(const rgi_algorithm_inside *call);

/* A row of an operation's table. The ways inside a node come first, and the last of them always
 * suits. Then comes "shared", which is whatever way suits, or the only one. */
typedef struct rgi_algorithm {
  const char *name;
  rgi_algorithm_builder *build; /* NULL: one step in shared memory (call.c) */
  unsigned needs;
  rgi_cost *cost;
  const char *formula;
  rgi_way way;
  rgi_algorithm_suits *suits; /* of a way; else NULL */
} rgi_algorithm;

/* Conditions and lengths that several operations share. */
static inline int rgi_algorithm_always(const rgi_algorithm_inside *call) {
  (void)call;
  return 1;
}

static inline int rgi_algorithm_tiny(const rgi_algorithm_inside *call) {
  return call->bytes <= RGI_SHM_TINY;
}

/* There is a processor for each process. */
static inline int rgi_algorithm_spins(const rgi_algorithm_inside *call) {
  return !(call->lacks & RGI_ALGORITHM_SPINS);
}

/* From so many bytes on blocks are copied directly where each process has a processor, unless the
 * operation has another length: a system call is worth that. */
#define RGI_ALGORITHM_DIRECT_LEAST ((size_t)32 << 10)

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

/* Those of which algorithms of other operations consist. */
rgi_algorithm_builder rgi_algorithm_bcast_binomial, rgi_algorithm_reduce_tree;

/* Whether operands are combined. */
static inline int rgi_algorithm_is_reduction(rg_operation op) {
  return op == RG_OP_REDUCE || op == RG_OP_ALLREDUCE || op == RG_OP_REDUCE_SCATTER ||
         op == RG_OP_SCAN || op == RG_OP_EXSCAN;
}

#endif

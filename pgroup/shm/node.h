/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The caller's node: which processes of the world share memory with the caller, and their
 * doorbells and inboxes in the node's arena. runtime/cluster.h fills it in. */
#ifndef RGI_NODE_H
#define RGI_NODE_H

#include "base/bell.h"
#include "shm/arena.h"

/* For each process of the node, in the arena. */
typedef struct {
  rgi_bell bell;          /* changes when something may have happened for the process */
  _Atomic uint64_t inbox; /* newest cell of messages for it (message/message.c) */
  char pad[2 * RGI_LINE - sizeof(rgi_bell) - sizeof(uint64_t)];
} rgi_node_process;

typedef struct {
  int count;                   /* nodes of the world */
  int mine;                    /* this node: the lowest world rank on it */
  int rank;                    /* of this process in the world */
  int n, me;                   /* processes on this node; this process's place among them */
  int *ranks;                  /* their world ranks, ascending */
  int *of;                     /* for each rank of the world its node (lowest world rank there);
                                  NULL when there is one node only */
  int *firsts;                 /* the lowest world ranks of all nodes, ascending; NULL as of */
  rgi_node_process *processes; /* of this node */
  int processors;              /* that these processes together may use */
  int oversubscribed;          /* more processes than processors; or as RG_OVERSUBSCRIBED says */
} rgi_node_info;

extern rgi_node_info rgi_node;

/* The place of a world rank among this node's processes, or -1. O(1) where the node's ranks are
 * consecutive, else O(log n). */
int rgi_node_find(int world_rank);

/* The index of a world rank's node among the nodes of the world, in the order of their lowest world
 * ranks. O(log nodes). */
int rgi_node_index(int world_rank);

static inline int rgi_node_of(int world_rank) {
  return rgi_node.of ? rgi_node.of[world_rank] : 0;
}

static inline rgi_bell *rgi_node_bell(void) {
  return &rgi_node.processes[rgi_node.me].bell;
}

/* Tells a process of this node that something may have happened for it. */
static inline void rgi_node_ring(int place) {
  rgi_bell_ring(&rgi_node.processes[place].bell);
}

#endif

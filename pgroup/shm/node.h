/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The nodes of the world, and the caller's: which processes share memory with the caller, their
 * doorbells and inboxes in the node's arena. Nodes are numbered from 0 in the order of their lowest
 * world ranks; the node daemons use the same numbers. runtime/cluster.h fills it in. */
#ifndef RGI_NODE_H
#define RGI_NODE_H

#include <sys/types.h>

#include "base/bell.h"
#include "shm/arena.h"

#define RGI_NODE_CELLS 3
#define RGI_NODE_PIPES 8

/* For each process of the node, in the arena. kept: blocks that the process keeps for its next
 * messages. It alone adds to them; in a full arena any process takes them. */
typedef struct {
  rgi_bell bell;          /* changes when something may have happened for the process */
  _Atomic uint64_t inbox; /* newest cell of messages for it (message/message_cell.c) */
  char pad[2 * RGI_LINE - sizeof(rgi_bell) - sizeof(uint64_t)];
  struct {
    _Atomic uint64_t cells[RGI_NODE_CELLS]; /* message/message_cell.c: a list for each size */
    _Atomic uint64_t pipes[RGI_NODE_PIPES]; /* message/message_pipe.c */
    char pad[2 * RGI_LINE - (RGI_NODE_CELLS + RGI_NODE_PIPES) * sizeof(uint64_t)];
  } kept;
} rgi_node_process;

/* Where a process is bound: equal numbers, the same socket or L3 cache. */
typedef struct {
  int32_t socket, cache;
} rgi_node_cache;

/* So many processes are one level: the library does not look for their caches. */
#define RGI_NODE_FLAT 8

typedef struct {
  int count;       /* nodes of the world */
  int mine;        /* this node */
  int rank;        /* of this process in the world */
  int n, me;       /* processes on this node; this process's place among them */
  int *ranks;      /* their world ranks, ascending */
  int *of;         /* for each rank of the world its node; NULL when there is one node */
  int16_t *memory; /* for each process of this node its memory node, -1: it may run on several;
                      NULL: there is one memory node, or all are -1 */
  rgi_node_cache *caches; /* for each process of this node; NULL: they do not matter */
  pid_t *pids; /* for each process of this node, each may read the other's memory; NULL: not so */
  rgi_node_process *processes; /* of this node */
  int processors;              /* that these processes together may use */
  int oversubscribed;          /* more processes than processors; or as RG_OVERSUBSCRIBED says */
} rgi_node_info;

extern rgi_node_info rgi_node;

/* The place of a world rank among this node's processes, or -1. O(1) where the node's ranks are
 * consecutive, else O(log n). */
int rgi_node_find(int world_rank);

/* Numbers nodes anew, from 0 in the order in which n processes are on them. of: for each process
 * its node, less than most; becomes the number. Returns how many nodes there are; -1: no memory. */
int rgi_node_number(int *of, int n, int most);

/* The node of a rank of the world. */
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

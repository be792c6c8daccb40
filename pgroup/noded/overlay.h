/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The overlay: what the nodes of a job that survives tell one another about deaths.
 *
 * On each node one process speaks with the other nodes: the guard of the node's first
 * process, the daemon (daemon.h). It lives on when its process is killed. The
 * processes of the node tell it things through a pipe, without waiting; what it hears
 * it writes into the node's arena, where all waits see it. */
#ifndef RGI_OVERLAY_H
#define RGI_OVERLAY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define RGI_OVERLAY_ADDRESSES 4

typedef struct {
  int32_t first;    /* the lowest world rank on it */
  uint16_t port, n; /* of the addresses; in network order */
  uint32_t address[RGI_OVERLAY_ADDRESSES];
  _Atomic uint32_t left; /* all of its processes have come to the end or died */
} rgi_overlay_node;

/* In the arena. Behind it: the nodes, ascending; the node (an index) of each rank of the
 * world; the world ranks of this node's processes. */
typedef struct {
  uint64_t key;    /* of this start of the library */
  double limit;    /* seconds without an answer after which a node is lost; 0: never */
  double patience; /* RG_PATIENCE */
  int32_t nodes, mine, world, processes;
  _Atomic int32_t daemon_pid; /* of the daemon */
  _Atomic int32_t joined;     /* 1: connected with its neighbours; -1: that has failed */
  char why[160];              /* then */
} rgi_overlay;

static inline rgi_overlay_node *rgi_overlay_nodes(rgi_overlay *m) {
  return (rgi_overlay_node *)(m + 1);
}

static inline int32_t *rgi_overlay_rank_nodes(rgi_overlay *m) {
  return (int32_t *)(rgi_overlay_nodes(m) + m->nodes);
}

static inline int32_t *rgi_overlay_ranks(rgi_overlay *m) {
  return rgi_overlay_rank_nodes(m) + m->world;
}

/* What may be told: facts, which all nodes hear of, each of them true for good; and what
 * the daemon alone is asked. */
typedef enum {
  RGI_FACT_DEAD = 1, /* a rank of the world */
  RGI_FACT_LOST,     /* a node, with all that is on it */
  RGI_FACT_LEFT,     /* a node: its processes have come to the end or died */
  RGI_FACT_ENDED,    /* the survivors have ended well */
  RGI_FACT_REVOKED,  /* a context */
  RGI_FACT_STALLED,  /* node + nodes * k: all there wait (k odd), do not any more (even) */
  RGI_FACT_PROPOSAL  /* an agreement: offset of an rgi_agreement_proposal (agreement.h) in the arena
                      */
} rgi_overlay_fact_kind;

typedef struct {
  uint64_t kind, value;
} rgi_overlay_fact;

/* By a rank: the overlay is there (runtime/daemons.h); pipe: to the node daemon, taken over. */
void rgi_overlay_use(rgi_overlay *overlay, int pipe);
void rgi_overlay_close(void);

/* Whether there is one; it, or NULL. */
int rgi_overlay_exists(void);
rgi_overlay *rgi_overlay_get(void);

/* Tells this node's daemon. Any thread; nothing without an overlay. */
void rgi_overlay_tell(rgi_overlay_fact_kind kind, uint64_t value);

/* Makes a context one whose waits end with RG_ERR_REVOKED, on all nodes. RG_ERR_LIMIT, without a
 * text: there is no room for another one. */
int rgi_overlay_revoke(uint64_t context);

/* The index of a rank's node. */
int rgi_overlay_node_of(int world_rank);

/* Whether all of the other nodes' processes have come to the end or died. */
int rgi_overlay_all_left(void);

#endif

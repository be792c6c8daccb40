/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The overlay: how the nodes of a job that survives tell one another about deaths. This header is
 * the memory and the messages that ranks and node daemons share.
 *
 * On each node one process communicates with the other nodes: the node daemon, which is the guard
 * of the node's first process and lives on when that is killed (daemon.h). The node's processes
 * send it facts through a pipe, without waiting (overlay_client.h). What the daemon learns it
 * writes into the node's arena, where all waits look. */
#ifndef RGI_OVERLAY_H
#define RGI_OVERLAY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define RGI_OVERLAY_ADDRESSES 4
#define RGI_OVERLAY_KEY_BYTES 32
#define RGI_OVERLAY_NAME_BYTES 64

typedef struct {
  int32_t first; /* the lowest world rank on it */
  uint16_t port; /* of its daemon; this and the addresses in network order */
  uint16_t n;    /* how many addresses it has */
  uint32_t address[RGI_OVERLAY_ADDRESSES];
  char name[RGI_OVERLAY_NAME_BYTES]; /* by which its launcher knows it */
  _Atomic uint32_t left; /* 1: each of its processes has come to the end of rg_finalize or died */
} rgi_overlay_node;

/* In the arena. Behind it: the nodes, in the order of their numbers (shm/node.h); the node of each
 * rank of the world. */
typedef struct {
  unsigned char key[RGI_OVERLAY_KEY_BYTES]; /* of this start of the library; secret */
  double limit;    /* seconds of silence after which a node may be given up; 0: never */
  double patience; /* RG_PATIENCE */
  int32_t nodes, mine, world;
  _Atomic int32_t daemon_pid;
  _Atomic int32_t joined; /* of the daemon: 1: connected with its neighbours; -1: that has failed */
  char why[160];          /* it has failed, in words */
  uint64_t job;           /* a number that other jobs do not have; no secret */
  char witness[256];      /* RG_WITNESS, or "" */
  _Atomic int32_t ended;  /* this node has no part in the job any more */
  _Atomic double beat;    /* of the daemon: when it last did something (rgi_clock_now); 0: never */
} rgi_overlay;

/* The status of the processes of a node that has no part in the job any more, while others go on or
 * may do so: that of a failure for now (EX_TEMPFAIL of sysexits.h). */
#define RGI_OVERLAY_ENDED_STATUS 75

static inline rgi_overlay_node *rgi_overlay_nodes(rgi_overlay *overlay) {
  return (rgi_overlay_node *)(overlay + 1);
}

static inline int32_t *rgi_overlay_rank_nodes(rgi_overlay *overlay) {
  return (int32_t *)(rgi_overlay_nodes(overlay) + overlay->nodes);
}

/* Facts, each of which stays true (of STALLED: the greatest k): daemons send them on to all nodes.
 * The last kind is not one: it goes to the own node's daemon only. Decisions about the presence of
 * nodes are facts, too, with messages of their own (facts.h). */
typedef enum {
  RGI_FACT_DEAD = 1, /* value: a rank of the world */
  RGI_FACT_LEFT,     /* a node: its processes have come to the end or died */
  RGI_FACT_ENDED,    /* all survivors have ended well */
  RGI_FACT_REVOKED,  /* a context */
  RGI_FACT_STALLED,  /* node + nodes * k: its processes all wait (k odd), or not all (k even) */
  RGI_FACT_PROPOSAL  /* offset of an rgi_agreement_proposal (agreement_proposal.h) in the arena */
} rgi_overlay_fact_kind;

typedef struct {
  uint64_t kind, value;
} rgi_overlay_fact;

/* Who calls a daemon (greeting.h), where it is no node: a rank, for the server (server.h). */
#define RGI_OVERLAY_CLIENT (-2)

/* Or a process of a node whose daemon does not move, which asks which nodes are lost
 * (given_up.h). */
#define RGI_OVERLAY_GUARD (-3)

#endif

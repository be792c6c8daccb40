/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing between nodes. The leader of a node is the balancer's lowest rank there.
 * It answers which groups there are and how many walkers wait, and gives walkers away. It answers
 * when its process looks for messages, after a unit at the latest.
 *
 * The end is found by credits (Mattern, 1989): a node with open walkers holds a credit; a walker
 * that goes to another node takes half of it along; a node whose last walker has ended returns
 * its own to rank 0. When all is back, all walkers have ended. */
#ifndef RGI_BOARD_INTERNODE_H
#define RGI_BOARD_INTERNODE_H

#include "walkers/board/board.h"
#include "walkers/board/node_loads.h"
#include "walkers/store/store.h"
#include "walkers/team/meeting.h"
#include "walkers/team/queue.h"
#include "walkers/team/wire.h"

/* The credit that nodes have returned, on rank 0: a sum of powers 2^-n. */
typedef struct {
  char *sum; /* binary digits after the point */
  int digits, whole;
} rgi_internode_credit;

typedef struct {
  rgi_wire *wire;
  rgi_board *board;
  const rgi_store *store;
  rgi_node_loads loads;
  int asked, next;             /* the node that was asked, or -1; the one to be asked next */
  double when, pause;          /* the time for the next question */
  rgi_internode_credit credit; /* rank 0: that was returned */
  int told;                    /* rank 0: it has told all nodes that the run ends early */
} rgi_internode;

int rgi_internode_open(rgi_internode *internode);
void rgi_internode_close(rgi_internode *internode);

/* Answers what has come from other nodes. Without the lock. */
int rgi_internode_serve(rgi_internode *internode);
/* An idle leader of so many ranks that has found nothing to do asks the next node. Without the
 * lock. */
int rgi_internode_query(rgi_internode *internode, int ranks);
/* The run ends early on all nodes. Without the lock. */
int rgi_internode_stop(rgi_internode *internode);
/* The process to which walkers are sent that meet, the first of which has this id. */
int rgi_internode_home(const rgi_internode *internode, int64_t id);
/* Sends a walker that is set aside there, with its credit. Without the lock. */
int rgi_internode_send_aside(rgi_internode *internode, int to, int64_t credit,
                             const rgi_queue_entry *entry, const rgi_meeting *meeting);
/* Whether this process has asked something that is not answered yet. */
int rgi_internode_asked(const rgi_internode *internode);

/* --- with the lock held -------------------------------------------------------------- */

/* Puts this node's share of the walkers that wait at first, from number `first` of the list on, on
 * its load board. */
int rgi_internode_deal(rgi_internode *internode, const rgi_queue *list, int first);
/* A walker leaves for the node of a rank, with a credit (-1: it is the same node); and arrives with
 * one. */
int rgi_internode_depart(rgi_internode *internode, int to, int64_t *credit);
int rgi_internode_arrive(rgi_internode *internode, int64_t credit);
/* Returns the credit if the last walker here has ended. */
int rgi_internode_check_end(rgi_internode *internode);

#endif

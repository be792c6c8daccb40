/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Between nodes. A node's leader, its lowest rank of the balancer, answers those who ask what
 * groups there are and how many walkers wait, and gives walkers away. A question is answered
 * when its process looks, after a unit at the latest.
 *
 * The end is found by credits (Mattern, 1989): a node with open walkers holds a credit; a walker
 * that goes to another node takes half of it along; a node whose last walker has ended returns
 * its own to rank 0. When all is back, all walkers have ended. */
#ifndef RGI_WALKERS_INTERNODE_H
#define RGI_WALKERS_INTERNODE_H

#include <regroup/balance.h>

#include "walkers/load_board.h"

int rgi_internode_open(rg_balancer b);
void rgi_internode_close(rg_balancer b);

/* Answers what has come from other nodes. Without the lock. */
int rgi_internode_serve(rg_balancer b);
/* An idle leader has found nothing to do: asks the next node. Without the lock. */
int rgi_internode_query(rg_balancer b);
/* The node of a rank. */
int rgi_internode_node(rg_balancer b, int rank);
/* Whether a question of this process's is open. */
int rgi_internode_asked(rg_balancer b);

/* --- with the lock held -------------------------------------------------------------- */

/* The walkers that wait at first, by this node. */
int rgi_internode_deal(rg_balancer b, int groups);
/* A walker goes from this node to that of a rank, with a credit (-1: it is the same node);
 * and has come here with one. */
int rgi_internode_depart(rg_balancer b, int to, int64_t *credit);
int rgi_internode_arrive(rg_balancer b, int64_t credit);
/* Perhaps the last walker here has ended. */
int rgi_internode_check_end(rg_balancer b);
/* Adds what is known of other nodes' groups. */
int rgi_internode_rows(rg_balancer b, rgi_load_board_row *rows, int *count);
/* So many processes are on their way to a group of another node. */
void rgi_internode_promise(rg_balancer b, int leader, int64_t ranks);
/* Nothing is being worked on elsewhere, as far as known. */
int rgi_internode_idle(rg_balancer b);

#endif

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
#ifndef RGI_WALKERS_INTERNODE_H
#define RGI_WALKERS_INTERNODE_H

#include <regroup/balance.h>

#include "walkers/load_board.h"

int rgi_internode_open(rg_balancer b);
void rgi_internode_close(rg_balancer b);

/* Answers what has come from other nodes. Without the lock. */
int rgi_internode_serve(rg_balancer b);
/* An idle leader that has found nothing to do asks the next node. Without the lock. */
int rgi_internode_query(rg_balancer b);
/* Whether this process has asked something that is not answered yet. */
int rgi_internode_asked(rg_balancer b);

/* --- with the lock held -------------------------------------------------------------- */

/* Puts this node's share of the walkers that wait at first on its load board. */
int rgi_internode_deal(rg_balancer b, int groups);
/* A walker leaves for the node of a rank, with a credit (-1: it is the same node); and arrives with
 * one. */
int rgi_internode_depart(rg_balancer b, int to, int64_t *credit);
int rgi_internode_arrive(rg_balancer b, int64_t credit);
/* Returns the credit if the last walker here has ended. */
int rgi_internode_check_end(rg_balancer b);
/* Adds the rows of groups on other nodes, as far as they are known. */
int rgi_internode_rows(rg_balancer b, rgi_load_board_row *rows, int *count);
/* Notes that so many processes are on their way to a group of another node. */
void rgi_internode_promise(rg_balancer b, int leader, int64_t ranks);
/* Whether, as far as is known, no other node works. */
int rgi_internode_idle(rg_balancer b);

#endif

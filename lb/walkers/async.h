/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Between nodes. A node's lowest rank of the balancer speaks for it: it answers those
 * who ask what groups there are and how many walkers wait, and gives walkers away. A
 * question is answered when its process looks, after a unit at the latest.
 *
 * The end is found by credits (Mattern, 1989): a node with open walkers holds a credit;
 * a walker that goes to another node takes half of it along; a node whose last walker
 * has ended returns its own to rank 0. When all is back, all walkers have ended. */
#ifndef RGI_WALKERS_ASYNC_H
#define RGI_WALKERS_ASYNC_H

#include "message/message.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "walkers/board.h"

int rgi_nodes_open(rg_balancer b);
void rgi_nodes_close(rg_balancer b);

/* Answers what has come from other nodes. Without the lock. */
int rgi_nodes_serve(rg_balancer b);
/* An idle leader has found nothing to do: asks the next node. Without the lock. */
int rgi_nodes_look(rg_balancer b);
/* The node of a rank. */
int rgi_nodes_of(rg_balancer b, int rank);
/* Whether a question of this process's is open. */
int rgi_nodes_asked(rg_balancer b);

/* With the lock held: */
int rgi_nodes_deal(rg_balancer b, int groups); /* the walkers that wait at first, by this node */
/* A walker goes from this node to that of a rank, with a credit (-1: it is the same node);
 * and has come here with one. */
int rgi_nodes_send_off(rg_balancer b, int to, int64_t *credit);
int rgi_nodes_receive(rg_balancer b, int64_t credit);
int rgi_nodes_quiet(rg_balancer b); /* perhaps the last walker here has ended */
int rgi_nodes_rows(rg_balancer b, rgi_row *rows, int *count); /* adds what is known */
void rgi_nodes_promise(rg_balancer b, int leader, int64_t ranks);
int rgi_nodes_idle(rg_balancer b); /* nothing is being worked on elsewhere, as far as known */

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the collectives know of a group: where its members are, their shared state on the
 * node, and which algorithms the user asks for. coll_of_group.h makes it. */
#ifndef RGI_COLL_STATE_H
#define RGI_COLL_STATE_H

#include <regroup/collectives.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/mix.h"
#include "collectives/schedule/subgroup.h"
#include "collectives/shared/shared_state.h"
#include "formation/members.h"
#include "message/message_list.h"

/* An algorithm asked for by name: a row of the operation's table; -1: automatic choice.
 * between, inside: for the hierarchical one, rows of the tables of rgi_hier_op_between and
 * rgi_hier_op_inside. */
typedef struct {
  signed char row, between, inside;
} rgi_coll_forced;

#define RGI_COLL_NOT_FORCED ((rgi_coll_forced){-1, -1, -1})

/* The members by nodes. Nodes are numbered in the order of their leaders: the
 * member of lowest rank on each. */
typedef struct {
  int count, mine;
  int in_order;         /* every node's members are consecutive ranks */
  int *first;           /* node n's members are by_node[first[n] .. first[n + 1] - 1] */
  int *by_node;         /* ranks, ascending on each node */
  int *of;              /* for each rank, its node */
  rgi_subgroup inside;  /* the members on my node */
  rgi_subgroup leaders; /* me: -1 unless the caller leads its node */
} rgi_coll_nodes;

/* It belongs to the group and to each non-blocking operation under way on it, which may outlive
 * the group. */
typedef struct rgi_coll {
  /* What the fast path reads comes first: a line, where malloc permits. */
  int forced_any;
  int in_memory;  /* all members on one node, and shared memory is best wherever it can serve */
  unsigned lacks; /* the needs of ways inside a node that the members here do not meet (choice.h) */
  int own_sequence; /* operations so far; not of the world */
  int *sequence;    /* the same, or those of all handles of the world: the tag of messages */
  /* The members' shared state, for blocking operations only: NULL after the group is freed. */
  rgi_shared_state *state;
  rgi_subgroup all;
  atomic_int users; /* the group, while it is not freed, and its open requests */
  rgi_members *members;
  uint64_t context;
  rgi_coll_nodes nodes;    /* arrays are NULL when count is 1 */
  atomic_int failed;       /* no operation ends any more: an error of a member (below); or 0 */
  atomic_uint failed_call; /* that member's call, stored before; 0: not known */
  int missed; /* for unmodified programs: so many calls have no partner (mpi/intercept_group.c) */
  struct rgi_choice_lengths *lengths; /* where it is so for some lengths only (choice.h); or NULL */
  rgi_coll_forced forced[RG_OP_COUNT];
  const struct rgi_algorithm *const *algorithms; /* of each operation (algorithm.h) */
} rgi_coll;

/* Messages of collectives have a context of their own. */
static inline uint64_t rgi_coll_context(uint64_t group_context) {
  return rgi_mix_bits(group_context + 0x636f6c6cU);
}

/* Fills nodes for the members of g, of which the caller is one. nodes->of, if not NULL, is the
 * memory of all arrays, to be freed. RG_ERR_NOMEM. */
int rgi_coll_nodes_find(const char *call, rg_group g, rgi_coll_nodes *nodes);

/* Another user; the end of one: the last one's frees the state. Any thread. */
void rgi_coll_share(rgi_coll *coll);
void rgi_coll_drop(rgi_coll *coll);

/* The number of the next operation: the tag of its messages. */
static inline int rgi_coll_next_tag(rgi_coll *coll) {
  int number = *coll->sequence;
  *coll->sequence = (number + 1) & ((1 << 30) - 1);
  coll->state->call = (uint32_t)number + 1;
  return number;
}

/* The place of a rank among the members on its node. */
int rgi_coll_local_rank(const rgi_coll *coll, int rank);

/* --- errors that end an operation at once: coll_failure.c ------------------------------------- */

/* Errors that end an operation of a group at once. The members on a node learn of it from the state
 * that they share, also where they wait for messages; those on other nodes, which may wait for
 * messages of the member with the error, get a message. After that no collective of the group goes
 * on: the group is formed anew. A death, a revocation and a time limit reach the members in other
 * ways. */

/* By a member whose operation has ended with this error at once, or cannot begin: tells the others.
 * Returns the error, with its text. A message to each member on other nodes, the first time. */
int rgi_coll_failure_tell(rgi_coll *coll, const char *call, int error);

/* What a non-blocking operation tells the members on other nodes, in any thread and without
 * waiting: one message after the other, so that it needs no memory. */
typedef struct {
  uint32_t number; /* of its call */
  int next;        /* the member that is told next */
  rgi_message message;
} rgi_coll_word;

/* By an operation that has ended with this error at once. 1: the others are to be told: the
 * operation calls the next function until that returns 1. */
int rgi_coll_failure_begin(rgi_coll *coll, rgi_coll_word *word, int error);
int rgi_coll_failure_progress(rgi_coll *coll, rgi_coll_word *word);

/* As rgi_coll_failure_tell by a member that cannot even make its collective state. */
int rgi_coll_failure_absent(rg_group g, const char *call, int error);

/* Whether another member has told that. By a member that waits for messages: RG_SUCCESS, or the
 * error with which it is to end. */
int rgi_coll_failure_look(rgi_coll *coll, const char *call);

/* By a member that is to begin a blocking operation, or has found in one that the group has failed:
 * RG_SUCCESS, or the error of its operation. Those on its node then end, too. */
int rgi_coll_failure_check(rgi_coll *coll, const char *call);

#endif

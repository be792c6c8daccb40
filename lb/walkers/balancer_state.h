/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a process keeps of the balancing that it takes part in: the struct behind rg_balancer, with
 * a part for each file of this room that keeps something between two calls. Ranks are ranks in the
 * balancer's present group. */
#ifndef RGI_WALKERS_BALANCER_STATE_H
#define RGI_WALKERS_BALANCER_STATE_H

#include <regroup/balance.h>
#include <regroup/request.h>

#include "walkers/outcome_list.h"
#include "walkers/queue.h"

/* The group that the process works in (walker_team.c). */
typedef struct {
  rg_group group, own; /* the application's; the library's, of the same members */
  int *ranks;          /* of the members, the leader's first */
  int n, me;
  int lowest, together; /* the lowest rank at first; whether the ranks are consecutive */
} rgi_balancer_team;

/* The walker that the group works on (work.c). */
typedef struct {
  int working;
  rg_walker walker;
  rgi_queue_entry entry; /* what is known of it (state and memory unused) */
  double started;
  double left;  /* after the last unit */
  int may;      /* what the application says after the last unit */
  double unit;  /* seconds, at the present size; or RG_LOAD_UNKNOWN */
  rg_pace pace; /* the leader's */
  int new_size; /* the last unit was the first one on so many processes */
  int skip;     /* units until the leader's next decision, where errors are alike */
  int pending;  /* an error kept for the next handing over, and its text */
  char text[RGI_OUTCOME_TEXT];
  unsigned mark;  /* of the errors recorded before the callback under way */
  int in_unit;    /* a unit is being done: walkers may be added */
  rgi_queue born; /* walkers that this unit has made, on this process */
} rgi_balancer_work;

/* A group that has asked to join (join.c). */
typedef struct {
  int leader, n;
  int *ranks;
} rgi_balancer_joiner;

/* What a part of an idle group is to do. */
typedef struct {
  int64_t ranks;
  int64_t target; /* the leader whose group it joins, or -1 */
  int64_t stamp;  /* of that group's walker */
  int64_t starts; /* whether it starts this walker */
  int64_t credit; /* that comes with the walker from another node, or -1 */
  rgi_queue_entry entry;
} rgi_balancer_part;

/* A group without a walker (idle.c). */
typedef struct {
  rgi_balancer_part part; /* what the group is to do next */
  int asked;              /* the leader that was asked and has not answered, or -1 */
  int64_t seen;           /* version of the load board that the policy was last asked about */
  int pending;            /* the broadcast of the next command is under way */
  int n;                  /* members of the group to join */
  int *ranks;
  rg_request request;
  int64_t command[2];
  double since; /* when it became idle */
} rgi_balancer_idle;

/* What a process reports at the end of a round (round.c). */
typedef struct {
  rg_load load; /* of its group */
  int32_t leader, lowest, born;
  double arrived;
} rgi_balancer_report;

/* Places of records by their keys (store_index.c). */
typedef struct {
  struct {
    uint64_t key, offset;
  } * at;
  size_t room, count;
  uint64_t head; /* of the node's list when it was last read */
} rgi_balancer_index;

/* Packed records (store_pack.c). */
typedef struct {
  char *memory;
  size_t bytes, room;
} rgi_balancer_pack;

/* The process that gets copies of this one's walkers (buddy.c). */
typedef struct {
  int rank;               /* -1: none */
  int open;               /* copies not answered yet */
  double last;            /* when the last one was sent */
  rgi_balancer_pack mine; /* records of children, for the next one */
} rgi_balancer_buddy;

typedef enum {
  RGI_BALANCER_NEW,
  RGI_BALANCER_RUNNING,
  RGI_BALANCER_DONE,
  RGI_BALANCER_ENDED,
  RGI_BALANCER_BROKEN
} rgi_balancer_stage;

struct rg_balancer_s {
  unsigned magic;
  rgi_balancer_stage stage;
  rg_group all; /* the balancer's group: all living members */
  int rank, size;
  rg_walker_kind kind;
  rg_balance_options options;
  rgi_queue list; /* walkers as added; in synchronous balancing those that wait */
  rgi_balancer_team team;
  rgi_balancer_work work;
  rgi_balancer_idle idle;
  rgi_outcome_list outcomes;
  rg_balance_statistics counts;
  int group_size; /* of the groups at first */

  /* The policy, what it is shown, and its plan: */
  rg_policy policy;
  int policy_error; /* it was wrong, and is asked no more */
  char policy_text[RGI_OUTCOME_TEXT];
  rg_load *rows; /* one for each group; row_count of them */
  int row_count;
  int64_t *row_stamps; /* of their walkers */
  rg_waiting_walker waiting[RGI_QUEUE_SHOWN];
  rg_plan plan;

  /* Asynchronous balancing: */
  struct rgi_load_board *board;
  uint64_t slot;        /* of the load board */
  int place, *place_of; /* rows on the load board: of this process; of each rank */
  int locked;           /* this process has the load board's lock */
  struct rgi_internode *nodes;
  int64_t stamp;                /* counts this process's walkers as a leader */
  struct rgi_wire_message *out; /* messages under way */
  rgi_balancer_joiner *joiners; /* requests that are kept until the unit ends */
  int joiner_count, joiner_room;
  rgi_queue_entry taken[RGI_QUEUE_SHOWN]; /* walkers that the plan starts */
  rgi_balancer_part *parts;               /* what an idle leader sends to the parts of its group */

  /* Synchronous balancing: */
  int units;                                /* done in this round */
  rg_request round;                         /* the exchange at its end; or the barrier at the end */
  rgi_balancer_report own_report, *reports; /* of each process */
  int *leader_of;                           /* of each rank */
  double merge;                             /* seconds, for the policy */

  /* In a job that survives deaths: */
  int survives, filled; /* filled: the store has all walkers */
  rg_group first;       /* the balancer's group at first */
  int first_size;
  uint64_t first_context;
  int first_rank;     /* of this process in that group */
  int *first_rank_of; /* of each rank of the present one; NULL: all still live */
  struct rgi_store *store;
  uint64_t store_slot;
  rgi_balancer_index index;
  rgi_balancer_buddy buddy;
};

/* Whether this process is the leader of its group. */
static inline int rgi_balancer_leads(const struct rg_balancer_s *b) {
  return b->team.me == 0;
}

#endif

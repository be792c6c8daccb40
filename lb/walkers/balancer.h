/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The balancer's own state in a process. Ranks are ranks in the balancer's group. */
#ifndef RGI_WALKERS_BALANCER_H
#define RGI_WALKERS_BALANCER_H

#include <regroup/balance.h>
#include <regroup/request.h>

#include "walkers/buddy.h"
#include "walkers/idle.h"
#include "walkers/join.h"
#include "walkers/outcome.h"
#include "walkers/queue.h"
#include "walkers/round.h"
#include "walkers/store_index.h"
#include "walkers/walker_team.h"
#include "walkers/wire.h"
#include "walkers/work.h"

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
  rg_group all;
  int rank, size;
  rg_walker_kind kind;
  rg_balance_options options;
  rg_policy policy;
  int policy_error; /* it was wrong, and is not asked any more */
  char policy_text[RGI_OUTCOME_TEXT];
  rgi_queue list; /* as added; the walkers that wait in synchronous balancing */
  rgi_walker_team team;
  rgi_work work;
  rgi_idle idle;
  rg_plan plan;
  rg_waiting waiting[64];
  rgi_queue_entry taken[64];
  rgi_idle_part *parts; /* an idle leader's, on the way to its group */
  int group_size;       /* at first */
  rg_load *rows;        /* for the policy; the groups after the last synchronous round */
  int row_count;
  int64_t *row_stamps;
  int place, *place_of; /* on the load board */
  struct rgi_load_board *board;
  struct rgi_internode *nodes;
  uint64_t slot;
  int64_t stamp; /* counts this process's walkers as a leader */
  rgi_wire_message *out;
  rgi_join_request *joiners;
  int joiner_count, joiner_room;
  /* Synchronous balancing: */
  int units;                             /* in this round */
  rg_request round;                      /* its end */
  rgi_round_report own_report, *reports; /* of each process */
  int *leader_of;                        /* of each rank */
  double merge;
  rgi_outcomes outcomes;
  /* In a job that survives deaths: */
  int survives, filled; /* filled: the store has all walkers */
  int first_size;       /* of the group at first, and its context */
  uint64_t first_context;
  int *first_rank_of; /* ranks in it of those who are left; NULL: all are */
  int first_rank;     /* this process's */
  rg_group first;     /* that group */
  struct rgi_store *store;
  uint64_t store_slot;
  rgi_store_index index;
  rgi_buddy buddy;
  int locked; /* this process has the load board's lock */
  rg_balance_counts counts;
  int64_t formations;
};

int rgi_balancer_check(const char *call, rg_balancer b);

/* Whether this process is the leader of its group. */
static inline int rgi_balancer_leads(const struct rg_balancer_s *b) {
  return b->team.me == 0;
}

#endif

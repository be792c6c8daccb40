/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The struct behind rg_balancer: the objects of which it consists. Those that need others have
 * pointers to them. What moves several of them takes the balancer: async.c with active.c and
 * idle.c, sync.c, restart.c. */
#ifndef RGI_STATE_BALANCER_STATE_H
#define RGI_STATE_BALANCER_STATE_H

#include <regroup/balance.h>

#include "walkers/board/board.h"
#include "walkers/board/internode.h"
#include "walkers/board/planner.h"
#include "walkers/state/join.h"
#include "walkers/state/round.h"
#include "walkers/state/search.h"
#include "walkers/store/buddy.h"
#include "walkers/store/record_exchange.h"
#include "walkers/store/record_index.h"
#include "walkers/store/store.h"
#include "walkers/team/membership.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/pace_table.h"
#include "walkers/team/queue.h"
#include "walkers/team/team.h"
#include "walkers/team/wire.h"
#include "walkers/work/work.h"

/* Walkers that have met and wait until so many copies for the buddy are confirmed. */
typedef struct rgi_balancer_kept {
  struct rgi_balancer_kept *next;
  int64_t count, copies;
  rgi_queue_entry *entries;
} rgi_balancer_kept;

/* Asynchronous balancing. */
typedef struct {
  rgi_board board;
  rgi_internode nodes;
  rgi_join join;
  rgi_search search;
  rgi_balancer_kept *kept;
  rg_request end; /* the barrier at the end */
} rgi_balancer_async;

/* In a job that survives deaths: what remains of a dead process's walkers. */
typedef struct {
  rgi_store store;
  rgi_record_index index;
  rgi_buddy buddy;
  rgi_record_exchange_traffic traffic;
  int *living; /* ranks at first that the application has not been told the death of */
  int living_count;
} rgi_balancer_survival;

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
  rg_balance_options options;
  rgi_membership members;
  rgi_wire wire;
  rgi_planner planner;
  void *ids;      /* of the walkers that were added to this run, if they meet: a tree of tsearch */
  rgi_queue list; /* walkers as added; in synchronous balancing those that wait */
  rgi_team team;
  rgi_work work;
  rgi_balancer_async async;
  rgi_round round; /* of synchronous balancing */
  rgi_balancer_survival survival;
  rgi_outcome_list outcomes; /* of the walkers that ended here */
  rgi_outcome_list gathered; /* of all walkers, after a gather */
  int has_gathered;
  rgi_pace_table paces;
  uint64_t drops;               /* a hash of the calls of rg_balance_drop so far */
  rg_balance_statistics counts; /* but for the groups, which the team counts */
};

/* Tells each object of the others that it works with. */
void rgi_balancer_state_connect(rg_balancer balancer);
/* After a death: gives up what is under way, and revokes the balancer's group. */
int rgi_balancer_state_give_up(rg_balancer balancer);
/* Frees what a run needs. No operation may be under way. */
void rgi_balancer_state_free_run(rg_balancer balancer);

/* The early end of a run: a checkpoint is due (recovery/checkpoint_due.h), and the application
 * wants the walkers to end as far as they have come. */
/* Whether this process finds that the run is to end early. */
int rgi_balancer_stop_due(rg_balancer balancer);

/* It is: another process has found it. */
void rgi_balancer_stop_note(rg_balancer balancer);

/* Asynchronous balancing: looks whether it is, and tells all processes. */
int rgi_balancer_stop_look(rg_balancer balancer);

#endif

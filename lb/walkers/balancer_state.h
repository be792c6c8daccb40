/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The struct behind rg_balancer: the objects of which it consists. Those that need others have
 * pointers to them. What moves several of them takes the balancer: async.c with active.c and
 * idle.c, synchronous.c, restart.c. */
#ifndef RGI_WALKERS_BALANCER_STATE_H
#define RGI_WALKERS_BALANCER_STATE_H

#include <regroup/balance.h>

#include "walkers/buddy.h"
#include "walkers/internode.h"
#include "walkers/join.h"
#include "walkers/load_board.h"
#include "walkers/membership.h"
#include "walkers/outcome_list.h"
#include "walkers/pace_table.h"
#include "walkers/planner.h"
#include "walkers/queue.h"
#include "walkers/round.h"
#include "walkers/search.h"
#include "walkers/store.h"
#include "walkers/store_exchange.h"
#include "walkers/store_index.h"
#include "walkers/walker_team.h"
#include "walkers/wire.h"
#include "walkers/work.h"

/* Walkers that have met and wait until so many copies for the buddy are confirmed. */
typedef struct rgi_balancer_kept {
  struct rgi_balancer_kept *next;
  int64_t count, copies;
  rgi_queue_entry *entries;
} rgi_balancer_kept;

/* Asynchronous balancing. */
typedef struct {
  rgi_load_board board;
  rgi_internode nodes;
  rgi_join join;
  rgi_search search;
  rgi_balancer_kept *kept;
  rg_request end; /* the barrier at the end */
} rgi_balancer_async;

/* In a job that survives deaths: what remains of a dead process's walkers. */
typedef struct {
  rgi_store store;
  rgi_store_index index;
  rgi_buddy buddy;
  rgi_store_exchange_traffic traffic;
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
  rgi_walker_team team;
  rgi_work work;
  rgi_balancer_async async;
  rgi_round_state round; /* of synchronous balancing */
  rgi_balancer_survival survival;
  rgi_outcome_list outcomes; /* of the walkers that ended here */
  rgi_outcome_list gathered; /* of all walkers, after a gather */
  int has_gathered;
  rgi_pace_table paces;
  uint64_t drops;               /* a hash of the calls of rg_balance_drop so far */
  rg_balance_statistics counts; /* but for the groups, which the team counts */
};

#endif

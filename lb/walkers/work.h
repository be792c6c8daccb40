/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walker that a group works on, and what each member does with it by itself. */
#ifndef RGI_WALKERS_WORK_H
#define RGI_WALKERS_WORK_H

#include <regroup/balance.h>

#include "base/error.h"
#include "walkers/buddy.h"
#include "walkers/load_board.h"
#include "walkers/meeting.h"
#include "walkers/outcome_list.h"
#include "walkers/pace_table.h"
#include "walkers/processor_time.h"
#include "walkers/queue.h"
#include "walkers/walker_team.h"

/* Units that are measured together, so many that chance and the clock do not matter. */
typedef struct {
  int units, before;            /* before: stretches of the same group */
  double seconds;               /* of these units and of the agreements before them */
  double since;                 /* when it began; 0: not yet */
  rgi_processor_time processor; /* the leader's, then */
} rgi_work_stretch;

typedef struct {
  rg_walker_kind kind;
  double limit; /* seconds that a walker may take; 0: any */
  rgi_walker_team *team;
  rgi_load_board *board; /* where walkers go that units make, if it is open */
  rgi_buddy *buddy;
  rgi_outcome_list *outcomes;
  rgi_pace_table *paces; /* of earlier runs, and of walkers that have ended here */
  int run;               /* its number, from 0 */
  rg_balance_statistics *counts;
  int working; /* there is a walker */
  rg_walker walker;
  rgi_queue_entry entry; /* what is known of it (state and memory unused) */
  double started;
  double left;         /* after the last unit */
  int may;             /* what the application says after the last unit */
  rgi_meeting meeting; /* that it asked for then; count 0: none */
  double unit;         /* seconds, at the present size; or RG_LOAD_UNKNOWN */
  rg_pace pace;        /* the leader's */
  double busy;         /* the leader: processors that it uses in the mean */
  rgi_work_stretch stretch;
  int new_size; /* the last unit was the first one on so many processes, or ended the first stretch
                 */
  int measured; /* the last unit ended the first stretch on so many processes */
  int skip;     /* units until the leader's next decision, where errors are alike */
  int stopping; /* the run ends early: walkers end after the unit */
  int pending;  /* an error kept for the next handing over, and its text */
  char text[RGI_OUTCOME_TEXT];
  unsigned mark;  /* of the errors recorded before the callback under way */
  int follows;    /* the last callback failed when another member had failed already */
  int in_unit;    /* a unit is being done: walkers may be added */
  rgi_queue born; /* walkers that this unit has made, on this process */
} rgi_work;

/* What the group does after a unit. */
enum {
  RGI_WORK_GO_ON,
  RGI_WORK_FINISH,
  RGI_WORK_MERGE,
  RGI_WORK_RELEASE,
  RGI_WORK_FAIL,
  RGI_WORK_MEET /* the walker is set aside for a meeting */
};
typedef struct {
  int64_t kind, count;
} rgi_work_decision;

/* Calls a function of the application; its code, as the library returns it. */
#define RGI_WORK_CALL(work, function, ...)                                                         \
  rgi_work_returned(work, #function,                                                               \
                    ((work)->mark = rgi_error_mark(), (work)->kind.function(__VA_ARGS__)))
int rgi_work_returned(rgi_work *work, const char *function, int error);

/* A new walker's state, empty. */
int rgi_work_new_state(rgi_work *work);
/* The state is what was packed. */
int rgi_work_take_packed(rgi_work *work, const void *memory, size_t bytes);
/* The packed state in *memory, to be freed by the caller; NULL: the state itself is packed. */
int rgi_work_pack_state(rgi_work *work, size_t *bytes, void **memory);
/* The leader asks the application what is left, whether members may join or leave, and whether the
 * walker is to meet others; or the last alone. */
int rgi_work_ask(rgi_work *work);
int rgi_work_ask_meeting(rgi_work *work);
/* What follows from these answers alone: RGI_WORK_FINISH, RGI_WORK_MEET or RGI_WORK_GO_ON. */
int rgi_work_next(const rgi_work *work);
/* The walker leaves the group: units that were too short to be measured make its pace, if nothing
 * else is known. */
void rgi_work_note_rest(rgi_work *work);
/* This process no longer works on the walker. */
void rgi_work_leave(rgi_work *work);

/* Whether processes may join the group now; whether members may leave its walker. */
int rgi_work_joinable(const rgi_work *work);
int rgi_work_leavable(const rgi_work *work);
/* The group's row, for the policy: state is what may be done with it. */
rg_load rgi_work_load(const rgi_work *work, int state);

/* The store of a job that survives deaths, if it is open. */
static inline rgi_store *rgi_work_store(const rgi_work *work) {
  rgi_store *store = work->buddy->index->store;
  return store->shared ? store : NULL;
}

#endif

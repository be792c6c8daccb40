/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walker that a group works on, and what each member does with it by itself. */
#ifndef RGI_WORK_WORK_H
#define RGI_WORK_WORK_H

#include <regroup/balance.h>

#include "base/error.h"
#include "walkers/board/board.h"
#include "walkers/store/buddy.h"
#include "walkers/team/meeting.h"
#include "walkers/team/outcome_list.h"
#include "walkers/team/pace_table.h"
#include "walkers/team/processor_time.h"
#include "walkers/team/queue.h"
#include "walkers/team/team.h"

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
  rgi_team *team;
  rgi_board *board; /* where walkers go that units make, if it is open */
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
/* What the kind's `left` returns, or its error. */
int rgi_work_ask_left(const rgi_work *work, double *left);
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

/* --- a group gets a walker, and hands it over; all members call --------------------------- */

/* Begins a walker. Only the leader's entry is used, and its memory is freed; the other members get
 * it from there. *next: RGI_WORK_GO_ON; RGI_WORK_FINISH: no unit is left; RGI_WORK_MEET; or
 * RGI_WORK_FAIL: it has failed. */
int rgi_work_start(rgi_work *work, const rgi_queue_entry *entry, int *next);
/* The group has changed: its new members get the walker and its state from the leader. */
int rgi_work_hand_over(rgi_work *work);
/* Before the members from position `stay` on leave: the members of the group as it still is call.
 * An error of the application is kept until rgi_work_hand_over. */
int rgi_work_part(rgi_work *work, int stay);

/* --- a unit ------------------------------------------------------------------------------- */

/* The leader's decision what comes next. Of an error of the library all members get the code. */
typedef int rgi_work_unit_decide(void *of, rgi_work_decision *decision);

/* Does one unit. All members call. The leader calls decide(of); *next is what it decided, on all
 * members. */
int rgi_work_unit(rgi_work *work, rgi_work_unit_decide *decide, void *of, rgi_work_decision *next);

/* --- the walker is set aside, with its state ---------------------------------------------- */

/* All members call; the group has no walker afterwards. On the leader *entry is the walker, whose
 * memory belongs to the caller; elsewhere it is empty. *failed: the application could not pack it,
 * and it has failed. */
int rgi_work_aside(rgi_work *work, rgi_queue_entry *entry, int *failed);

/* --- a walker ends: well, or by an error -------------------------------------------------- */

/* No unit is left. */
int rgi_work_finish(rgi_work *work);
/* All members have the same error. rank: of the process that found it; text: NULL: this member's.
 */
int rgi_work_fail(rgi_work *work, int error, int rank, const char *text);
/* The error of the member that a word (rgi_work_error_word) names. */
int rgi_work_fail_by_word(rgi_work *work, int64_t word);
/* After functions of the application other than unit: if a member has an error, the walker fails.
 * *failed: whether it did. */
int rgi_work_agree(rgi_work *work, int error, int *failed);

/* A walker without a group ends: with an error, or as far as it has come. Local. Its memory is
 * freed. */
int rgi_work_end_entry(rgi_work *work, rgi_queue_entry *entry, int error, const char *text);
/* A walker that is set aside ends, since another one does not come: with an error, or in a run that
 * ends early (text "") without. */
int rgi_work_end_aside(rgi_work *work, rgi_queue_entry *entry, const char *text);
/* A walker that waits fails: all groups are idle, and the policy of this name starts it on none of
 * them. Local. Its memory is freed. */
int rgi_work_fail_waiting(rgi_work *work, const rgi_queue_entry *entry, const char *policy);

/* --- an error of one member, for all --------------------------------------------------------- */

/* After a function that all members call: another member may still wait in it for this one. Returns
 * error. */
int rgi_work_error_revoke(const rgi_work *work, int error);

/* An error and this member's rank as one number, of which the members take the largest
 * (rgi_work_error_agree); 0 for none. And what such a number says: the code, and the rank in the
 * balancer's group. */
int64_t rgi_work_error_word(const rgi_work *work, int error);
/* The members take the largest of each of n words; error is this member's. RG_ERR_PROC_FAILED: a
 * process has died, and the error comes from that. */
int rgi_work_error_agree(const rgi_work *work, int error, int64_t words[], int n);
int rgi_work_error_code(int64_t word);
int rgi_work_error_rank(const rgi_work *work, int64_t word);
/* The member that the word names sends its text to all. */
int rgi_work_error_spread(const rgi_work *work, int64_t word, char text[RGI_OUTCOME_TEXT]);

#endif

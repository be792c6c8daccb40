/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The id of the first walker of a meeting selects the node on whose load board all that meet are
 * set aside. Any process of that node holds the meeting when it is complete: the leader that has
 * brought the last walker, at once; or one that has no work, or is between two units.
 *
 * In a job that survives on several nodes, the walkers wait for groups only when the buddy has
 * confirmed the copies of all of them. So after the loss of a node no walker is behind a meeting
 * that others have left. */
#include <stdlib.h>

#include "base/error.h"
#include "walkers/async/meeting_step.h"
#include "walkers/state/balancer_state.h"
#include "walkers/store/record_pack.h"
#include "walkers/work/meeting_hold.h"

/* --- a walker is set aside ----------------------------------------------------------------- */

/* The leader's part. *e belongs to the caller. */
static int set_aside(rg_balancer b, rgi_queue_entry *e) {
  rgi_internode *f = &b->async.nodes;
  const rgi_meeting *m = &b->work.meeting;
  int home = rgi_internode_home(f, m->ids[0]);
  int64_t credit = -1;
  RGI_TRY(rgi_board_lock(&b->async.board));
  int error = rgi_internode_depart(f, home, &credit);
  if (!error && credit < 0)
    error = rgi_board_set_aside(&b->async.board, e, m);
  rgi_board_unlock(&b->async.board);
  if (error || credit < 0)
    return error;
  RGI_TRY(rgi_record_pack_attach(&b->survival.store, e));
  return rgi_internode_send_aside(f, home, credit, e, m);
}

int rgi_meeting_step_aside(rg_balancer b, int *failed) {
  rgi_queue_entry e;
  RGI_TRY(rgi_work_aside(&b->work, &e, failed));
  if (*failed || !rgi_team_leads(&b->team))
    return RG_SUCCESS;
  int error = set_aside(b, &e);
  free(e.memory);
  return error;
}

/* --- meetings ----------------------------------------------------------------------------------
 */

static void free_entries(int64_t count, rgi_queue_entry *e) {
  for (int64_t i = 0; i < count; i++)
    free(e[i].memory);
  free(e);
}

/* The walkers of a meeting wait for groups; after an error they have ended. */
static int let_go(rg_balancer b, int64_t count, const rgi_queue_entry e[], int failed) {
  rgi_board *board = &b->async.board;
  int error = RG_SUCCESS;
  RGI_TRY(rgi_board_lock(board));
  for (int64_t i = 0; i < count && !failed && !error; i++)
    error = rgi_board_put(board, &e[i]);
  if (failed)
    board->shared->open -= count;
  rgi_board_changed(board);
  if (!error)
    error = rgi_internode_check_end(&b->async.nodes);
  rgi_board_unlock(board);
  return error;
}

/* Keeps the walkers until the buddy has the copies that were sent. */
static int keep(rg_balancer b, int64_t count, rgi_queue_entry *e) {
  rgi_balancer_kept *kept = malloc(sizeof *kept);
  if (!kept)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)count);
  *kept = (rgi_balancer_kept){b->async.kept, count, b->survival.buddy.sent, e};
  b->async.kept = kept;
  return RG_SUCCESS;
}

static int hold_one(rg_balancer b, int64_t count, rgi_queue_entry *e, int64_t number) {
  int failed = 0;
  int error = rgi_meeting_hold(&b->work, count, e, number, &failed);
  if (!error && !failed && rgi_buddy_waits(&b->survival.buddy)) {
    error = keep(b, count, e);
    if (!error)
      return RG_SUCCESS;
  } else if (!error)
    error = let_go(b, count, e, failed);
  free_entries(count, e);
  return error;
}

/* Lets those go whose copies are confirmed. */
static int serve_kept(rg_balancer b) {
  int64_t confirmed = b->survival.buddy.sent - b->survival.buddy.open;
  for (rgi_balancer_kept **p = &b->async.kept; *p;) {
    rgi_balancer_kept *kept = *p;
    if (kept->copies > confirmed) {
      p = &kept->next;
      continue;
    }
    *p = kept->next;
    int error = let_go(b, kept->count, kept->entries, 0);
    free_entries(kept->count, kept->entries);
    free(kept);
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

int rgi_meeting_step_serve(rg_balancer b) {
  rgi_board *board = &b->async.board;
  RGI_TRY(serve_kept(b));
  while (atomic_load(&board->shared->complete) > 0) {
    rgi_queue_entry *e = NULL;
    int64_t count, number;
    RGI_TRY(rgi_board_lock(board));
    int error = rgi_board_take_meeting(board, &count, &e, &number);
    rgi_board_unlock(board);
    if (error)
      free_entries(count, e);
    RGI_TRY(error);
    if (count == 0)
      break;
    RGI_TRY(hold_one(b, count, e, number));
  }
  return RG_SUCCESS;
}

/* --- the end ------------------------------------------------------------------------------- */

int rgi_meeting_step_end(rg_balancer b) {
  rgi_board *board = &b->async.board;
  int early = atomic_load(&board->shared->stopping), there;
  int64_t none = rgi_membership_spans_nodes(&b->members) ? RGI_MEETING_UNKNOWN : RGI_MEETING_NONE;
  char text[RGI_OUTCOME_TEXT];
  for (;;) {
    rgi_queue_entry e = {0};
    RGI_TRY(rgi_meeting_list_stuck(rgi_board_aside(board), none, &there, &e, text, sizeof text));
    if (!there)
      break;
    RGI_TRY(rgi_work_end_aside(&b->work, &e, early ? "" : text));
  }
  rgi_meeting_list_free(rgi_board_aside(board));
  return RG_SUCCESS;
}

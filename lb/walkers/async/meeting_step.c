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
#include "base/spare.h"
#include "walkers/async/meeting_step.h"
#include "walkers/state/balancer_state.h"
#include "walkers/store/record_index.h"
#include "walkers/work/meeting_hold.h"

/* --- a walker is set aside ----------------------------------------------------------------- */

/* The leader's part. *entry belongs to the caller. */
static int set_aside(rg_balancer balancer, rgi_queue_entry *entry) {
  rgi_internode *internode = &balancer->async.nodes;
  const rgi_meeting *meeting = &balancer->work.meeting;
  int home = rgi_internode_home(internode, meeting->ids[0]);
  int64_t credit = -1;
  RGI_TRY(rgi_board_lock(&balancer->async.board));
  int error = rgi_internode_depart(internode, home, &credit);
  if (!error && credit < 0)
    error = rgi_board_set_aside(&balancer->async.board, entry, meeting);
  rgi_board_unlock(&balancer->async.board);
  if (error || credit < 0)
    return error;
  RGI_TRY(rgi_record_pack_attach(&balancer->survival.store, entry));
  return rgi_internode_send_aside(internode, home, credit, entry, meeting);
}

int rgi_meeting_step_aside(rg_balancer balancer, int *failed) {
  rgi_queue_entry entry;
  RGI_TRY(rgi_work_aside(&balancer->work, &entry, failed));
  if (*failed || !rgi_team_leads(&balancer->team))
    return RG_SUCCESS;
  int error = set_aside(balancer, &entry);
  rgi_spare_free(entry.memory);
  return error;
}

/* --- meetings ------------------------------------------------------------------------------ */

static void free_entries(int64_t count, rgi_queue_entry *entry) {
  for (int64_t i = 0; i < count; i++)
    rgi_spare_free(entry[i].memory);
  rgi_spare_free(entry);
}

/* The walkers of a meeting wait for groups; after an error they have ended. */
static int let_go(rg_balancer balancer, int64_t count, const rgi_queue_entry entry[], int failed) {
  rgi_board *board = &balancer->async.board;
  int error = RG_SUCCESS;
  RGI_TRY(rgi_board_lock(board));
  for (int64_t i = 0; i < count && !failed && !error; i++)
    error = rgi_board_put(board, &entry[i]);
  if (failed)
    board->shared->open -= count;
  rgi_board_changed(board);
  if (!error)
    error = rgi_internode_check_end(&balancer->async.nodes);
  rgi_board_unlock(board);
  return error;
}

/* Keeps the walkers until the buddy has the copies that were sent. */
static int keep(rg_balancer balancer, int64_t count, rgi_queue_entry *entry) {
  rgi_balancer_kept *kept = rgi_spare_alloc(sizeof *kept);
  if (!kept)
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)count);
  *kept = (rgi_balancer_kept){.next = balancer->async.kept,
                              .count = count,
                              .copies = balancer->survival.buddy.sent,
                              .entries = entry};
  balancer->async.kept = kept;
  return RG_SUCCESS;
}

static int hold_one(rg_balancer balancer, int64_t count, rgi_queue_entry *entry, int64_t number) {
  int failed = 0;
  int error = rgi_meeting_hold(&balancer->work, count, entry, number, &failed);
  if (!error && !failed && rgi_buddy_waits(&balancer->survival.buddy)) {
    error = keep(balancer, count, entry);
    if (!error)
      return RG_SUCCESS;
  } else if (!error)
    error = let_go(balancer, count, entry, failed);
  free_entries(count, entry);
  return error;
}

/* Lets those go whose copies are confirmed. */
static int serve_kept(rg_balancer balancer) {
  int64_t confirmed = balancer->survival.buddy.sent - balancer->survival.buddy.open;
  for (rgi_balancer_kept **p = &balancer->async.kept; *p;) {
    rgi_balancer_kept *kept = *p;
    if (kept->copies > confirmed) {
      p = &kept->next;
      continue;
    }
    *p = kept->next;
    int error = let_go(balancer, kept->count, kept->entries, 0);
    free_entries(kept->count, kept->entries);
    rgi_spare_free(kept);
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

int rgi_meeting_step_serve(rg_balancer balancer) {
  rgi_board *board = &balancer->async.board;
  RGI_TRY(serve_kept(balancer));
  while (atomic_load(&board->shared->complete) > 0) {
    rgi_queue_entry *entry = NULL;
    int64_t count, number;
    RGI_TRY(rgi_board_lock(board));
    int error = rgi_board_take_meeting(board, &count, &entry, &number);
    rgi_board_unlock(board);
    if (error)
      free_entries(count, entry);
    RGI_TRY(error);
    if (count == 0)
      break;
    RGI_TRY(hold_one(balancer, count, entry, number));
  }
  return RG_SUCCESS;
}

/* --- the end ------------------------------------------------------------------------------- */

int rgi_meeting_step_end(rg_balancer balancer) {
  rgi_board *board = &balancer->async.board;
  int early = atomic_load(&board->shared->stopping), there;
  int64_t none =
      rgi_membership_spans_nodes(&balancer->members) ? RGI_MEETING_UNKNOWN : RGI_MEETING_NONE;
  char text[RGI_OUTCOME_TEXT];
  for (;;) {
    rgi_queue_entry entry = {0};
    RGI_TRY(
        rgi_meeting_list_stuck(rgi_board_aside(board), none, &there, &entry, text, sizeof text));
    if (!there)
      break;
    RGI_TRY(rgi_work_end_aside(&balancer->work, &entry, early ? "" : text));
  }
  rgi_meeting_list_free(rgi_board_aside(board));
  return RG_SUCCESS;
}

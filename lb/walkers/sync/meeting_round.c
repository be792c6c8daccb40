/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * At the end of a round the leaders send the walkers that they have set aside to all processes. So
 * all find the same complete meetings. The process that has brought the first walker of a meeting
 * holds it, and sends the walkers to all once more. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/error.h"
#include "walkers/state/balancer_state.h"
#include "walkers/store/record_pack.h"
#include "walkers/sync/sync.h"
#include "walkers/team/meeting.h"
#include "walkers/team/meeting_list.h"
#include "walkers/work/meeting_hold.h"

/* A process is idle from then on until the round ends: it brings one walker at most. */
int rgi_sync_set_aside(rg_balancer b) {
  rgi_queue_entry e;
  int failed;
  RGI_TRY(rgi_work_aside(&b->work, &e, &failed));
  if (failed || !rgi_team_leads(&b->team))
    return RG_SUCCESS;
  b->round.brought = e;
  b->round.has_brought = 1;
  return RG_SUCCESS;
}

/* --- the walkers that were set aside, on all processes ------------------------------------- */

/* The meeting for which rank r has set a walker aside. *m: what r has of it; elsewhere its ids are
 * the caller's to free. */
static int share_meeting(rg_balancer b, int r, rgi_meeting *m) {
  int own = r == b->members.rank;
  int64_t words[2] = {m->number, m->count};
  RGI_TRY(rg_bcast(b->members.group, words, 2, MPI_INT64_T, r));
  m->number = words[0];
  m->count = words[1];
  if (!own && !(m->ids = malloc((size_t)m->count * sizeof *m->ids)))
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)m->count);
  return rg_bcast(b->members.group, m->ids, m->count, MPI_INT64_T, r);
}

/* Rank r has set a walker aside. */
static int share_aside(rg_balancer b, int r) {
  int own = r == b->members.rank, comes, error = RG_SUCCESS;
  rgi_queue_entry e = own ? b->round.brought : (rgi_queue_entry){0};
  rgi_meeting m = own ? b->work.meeting : (rgi_meeting){0};
  if (own)
    b->round.has_brought = 0;
  if (own && rgi_store_spans_nodes(&b->survival.store))
    error = rgi_record_pack_attach(&b->survival.store, &e);
  if (!error)
    error = rgi_sync_share_entry(b, r, &e);
  if (!error)
    error = share_meeting(b, r, &m);
  if (!error)
    error = rgi_meeting_list_add(rgi_round_aside(&b->round), &e, &m, r, &comes);
  if (!own)
    free(m.ids);
  free(e.memory);
  return error;
}

static int share_brought(rg_balancer b) {
  for (int r = 0; r < b->members.size; r++)
    if (b->round.reports[r].aside)
      RGI_TRY(share_aside(b, r));
  return RG_SUCCESS;
}

/* --- meetings ------------------------------------------------------------------------------ */

/* The walkers go on when the buddies have the copies that were sent: else the loss of a node could
 * put one of them back before the meeting and not another. All serve their buddies meanwhile. */
static int await_copies(rg_balancer b) {
  for (int waits = rgi_store_spans_nodes(&b->survival.store); waits;) {
    RGI_TRY(rgi_buddy_serve(&b->survival.buddy));
    waits = rgi_buddy_waits(&b->survival.buddy);
    RGI_TRY(rg_allreduce(b->members.group, MPI_IN_PLACE, &waits, 1, MPI_INT, MPI_MAX));
  }
  return RG_SUCCESS;
}

static int hold_one(rg_balancer b, int64_t count, rgi_queue_entry e[], int64_t number, int rank) {
  int own = rank == b->members.rank, failed = 0;
  if (own)
    RGI_TRY(rgi_meeting_hold(&b->work, count, e, number, &failed));
  RGI_TRY(rg_bcast(b->members.group, &failed, 1, MPI_INT, rank));
  RGI_TRY(await_copies(b));
  for (int64_t i = 0; i < count && !failed; i++)
    RGI_TRY(rgi_sync_share_walker(b, rank, own ? &e[i] : NULL));
  return RG_SUCCESS;
}

int rgi_sync_meet(rg_balancer b) {
  RGI_TRY(share_brought(b));
  for (;;) {
    rgi_queue_entry *e;
    int64_t count, number;
    int rank;
    RGI_TRY(rgi_meeting_list_take(rgi_round_aside(&b->round), &count, &e, &number, &rank));
    if (count == 0)
      return RG_SUCCESS;
    int error = hold_one(b, count, e, number, rank);
    for (int64_t i = 0; i < count; i++)
      free(e[i].memory);
    free(e);
    RGI_TRY(error);
  }
}

int rgi_sync_end_asides(rg_balancer b) {
  rgi_meeting_list list = rgi_round_aside(&b->round);
  char text[RGI_OUTCOME_TEXT];
  for (int there = b->members.rank == 0; there;) {
    rgi_queue_entry e = {0};
    RGI_TRY(rgi_meeting_list_stuck(list, RGI_MEETING_NONE, &there, &e, text, sizeof text));
    if (there)
      RGI_TRY(rgi_work_end_aside(&b->work, &e, b->work.stopping ? "" : text));
  }
  rgi_meeting_list_free(list);
  return RG_SUCCESS;
}

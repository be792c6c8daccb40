/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * At the end of a round the leaders send the walkers that they have set aside to all processes. So
 * all find the same complete meetings. The process that has brought the first walker of a meeting
 * holds it, and sends the walkers to all once more. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "walkers/state/balancer_state.h"
#include "walkers/store/record_index.h"
#include "walkers/sync/sync.h"
#include "walkers/team/meeting.h"
#include "walkers/team/meeting_list.h"
#include "walkers/work/meeting_hold.h"

/* A process is idle from then on until the round ends: it brings one walker at most. */
int rgi_sync_set_aside(rg_balancer balancer) {
  rgi_queue_entry entry;
  int failed;
  RGI_TRY(rgi_work_aside(&balancer->work, &entry, &failed));
  if (failed || !rgi_team_leads(&balancer->team))
    return RG_SUCCESS;
  balancer->round.brought = entry;
  balancer->round.has_brought = 1;
  return RG_SUCCESS;
}

/* --- the walkers that were set aside, on all processes ------------------------------------- */

/* The meeting for which rank r has set a walker aside. *meeting: what r has of it; elsewhere its
 * ids are the caller's to free. */
static int share_meeting(rg_balancer balancer, int r, rgi_meeting *meeting) {
  int own = r == balancer->members.rank;
  int64_t words[2] = {meeting->number, meeting->count};
  RGI_TRY(rg_bcast(balancer->members.group, words, 2, MPI_INT64_T, r));
  meeting->number = words[0];
  meeting->count = words[1];
  if (!own && !(meeting->ids = malloc((size_t)meeting->count * sizeof *meeting->ids)))
    return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers",
                     (long long)meeting->count);
  return rg_bcast(balancer->members.group, meeting->ids, meeting->count, MPI_INT64_T, r);
}

/* Rank r has set a walker aside. */
static int share_aside(rg_balancer balancer, int r) {
  int own = r == balancer->members.rank, comes, error = RG_SUCCESS;
  rgi_queue_entry entry = own ? balancer->round.brought : (rgi_queue_entry){0};
  rgi_meeting meeting = own ? balancer->work.meeting : (rgi_meeting){0};
  if (own)
    balancer->round.has_brought = 0;
  if (own && rgi_store_spans_nodes(&balancer->survival.store))
    error = rgi_record_pack_attach(&balancer->survival.store, &entry);
  if (!error)
    error = rgi_sync_share_entry(balancer, r, &entry);
  if (!error)
    error = share_meeting(balancer, r, &meeting);
  if (!error)
    error = rgi_meeting_list_add(rgi_round_aside(&balancer->round), &entry, &meeting, r, &comes);
  if (!own)
    rgi_spare_free(meeting.ids);
  rgi_spare_free(entry.memory);
  return error;
}

static int share_brought(rg_balancer balancer) {
  for (int r = 0; r < balancer->members.size; r++)
    if (balancer->round.reports[r].aside)
      RGI_TRY(share_aside(balancer, r));
  return RG_SUCCESS;
}

/* --- meetings ------------------------------------------------------------------------------ */

/* The walkers go on when the buddies have the copies that were sent: else the loss of a node could
 * put one of them back before the meeting and not another. All serve their buddies meanwhile. */
static int await_copies(rg_balancer balancer) {
  for (int waits = rgi_store_spans_nodes(&balancer->survival.store); waits;) {
    RGI_TRY(rgi_buddy_serve(&balancer->survival.buddy));
    waits = rgi_buddy_waits(&balancer->survival.buddy);
    RGI_TRY(rg_allreduce(balancer->members.group, MPI_IN_PLACE, &waits, 1, MPI_INT, MPI_MAX));
  }
  return RG_SUCCESS;
}

static int hold_one(rg_balancer balancer, int64_t count, rgi_queue_entry entry[], int64_t number,
                    int rank) {
  int own = rank == balancer->members.rank, failed = 0;
  if (own)
    RGI_TRY(rgi_meeting_hold(&balancer->work, count, entry, number, &failed));
  RGI_TRY(rg_bcast(balancer->members.group, &failed, 1, MPI_INT, rank));
  RGI_TRY(await_copies(balancer));
  for (int64_t i = 0; i < count && !failed; i++)
    RGI_TRY(rgi_sync_share_walker(balancer, rank, own ? &entry[i] : NULL));
  return RG_SUCCESS;
}

int rgi_sync_meet(rg_balancer balancer) {
  RGI_TRY(share_brought(balancer));
  for (;;) {
    rgi_queue_entry *entry;
    int64_t count, number;
    int rank;
    RGI_TRY(
        rgi_meeting_list_take(rgi_round_aside(&balancer->round), &count, &entry, &number, &rank));
    if (count == 0)
      return RG_SUCCESS;
    int error = hold_one(balancer, count, entry, number, rank);
    for (int64_t i = 0; i < count; i++)
      rgi_spare_free(entry[i].memory);
    rgi_spare_free(entry);
    RGI_TRY(error);
  }
}

int rgi_sync_end_asides(rg_balancer balancer) {
  rgi_meeting_list list = rgi_round_aside(&balancer->round);
  char text[RGI_OUTCOME_TEXT];
  for (int there = balancer->members.rank == 0; there;) {
    rgi_queue_entry entry = {0};
    RGI_TRY(rgi_meeting_list_stuck(list, RGI_MEETING_NONE, &there, &entry, text, sizeof text));
    if (there)
      RGI_TRY(rgi_work_end_aside(&balancer->work, &entry, balancer->work.stopping ? "" : text));
  }
  rgi_meeting_list_free(list);
  return RG_SUCCESS;
}

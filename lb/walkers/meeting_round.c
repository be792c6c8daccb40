/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * At the end of a round the leaders send the walkers that they have set aside to all processes. So
 * all find the same complete meetings. The process that has brought the first walker of a meeting
 * holds it, and sends the walkers to all once more. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/error.h"
#include "walkers/balancer_state.h"
#include "walkers/buddy.h"
#include "walkers/meeting.h"
#include "walkers/meeting_hold.h"
#include "walkers/meeting_list.h"
#include "walkers/meeting_round.h"
#include "walkers/round.h"
#include "walkers/round_share.h"
#include "walkers/store.h"
#include "walkers/store_pack.h"
#include "walkers/walker_team.h"
#include "walkers/work.h"
#include "walkers/work_aside.h"
#include "walkers/work_end.h"

int rgi_meeting_round_aside(rg_balancer b) {
  rgi_queue_entry e;
  int failed;
  RGI_TRY(rgi_work_aside(&b->work, &e, &failed));
  if (failed || !rgi_walker_team_leads(&b->team))
    return RG_SUCCESS;
  return rgi_meeting_list_add(&b->round.brought, &e, &b->work.meeting, b->members.rank);
}

/* --- the walkers that were set aside, on all processes ------------------------------------- */

/* Rank r has set a walker aside. own: what r has of it; its memory moves. */
static int share_aside(rg_balancer b, int r, rgi_meeting_aside *own) {
  rg_group g = b->members.group;
  rgi_queue_entry e = {0};
  int64_t words[2] = {0};
  if (own) {
    e = own->entry;
    own->entry.memory = NULL;
    words[0] = own->meeting.number;
    words[1] = own->meeting.count;
  }
  int error = RG_SUCCESS;
  if (own && rgi_store_spans_nodes(&b->survival.store))
    error = rgi_store_pack_attach(&b->survival.store, &e);
  if (!error)
    error = rgi_round_share_entry(b, r, &e);
  if (!error)
    error = rg_bcast(g, words, 2, MPI_INT64_T, r);
  rgi_meeting m = {.number = words[0], .count = words[1]};
  if (!error)
    m.ids = own ? own->meeting.ids : malloc((size_t)m.count * sizeof *m.ids);
  if (!error && !m.ids)
    error = rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)m.count);
  if (!error)
    error = rg_bcast(g, m.ids, m.count, MPI_INT64_T, r);
  if (!error)
    error = rgi_meeting_list_add(&b->round.aside, &e, &m, r);
  if (!own)
    free(m.ids);
  if (error)
    free(e.memory);
  return error;
}

static int share_brought(rg_balancer b) {
  for (int r = 0; r < b->members.size; r++)
    for (int i = 0; i < b->round.reports[r].aside; i++)
      RGI_TRY(share_aside(b, r, r == b->members.rank ? &b->round.brought.at[i] : NULL));
  rgi_meeting_list_free(&b->round.brought);
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
    RGI_TRY(rgi_round_share_walker(b, rank, own ? &e[i] : NULL));
  return RG_SUCCESS;
}

int rgi_meeting_round_share(rg_balancer b) {
  RGI_TRY(share_brought(b));
  for (;;) {
    rgi_queue_entry *e;
    int64_t count, number;
    int rank;
    RGI_TRY(rgi_meeting_list_take(&b->round.aside, &count, &e, &number, &rank));
    if (count == 0)
      return RG_SUCCESS;
    int error = hold_one(b, count, e, number, rank);
    for (int64_t i = 0; i < count; i++)
      free(e[i].memory);
    free(e);
    RGI_TRY(error);
  }
}

int rgi_meeting_round_end(rg_balancer b) {
  rgi_meeting_list *l = &b->round.aside;
  int early = b->work.stopping;
  char text[RGI_OUTCOME_TEXT];
  for (int i = 0; i < l->count && b->members.rank == 0; i++) {
    rgi_meeting_list_say(l, i, text, sizeof text);
    RGI_TRY(rgi_work_end_aside(&b->work, &l->at[i].entry, early ? "" : text));
  }
  rgi_meeting_list_free(l);
  return RG_SUCCESS;
}

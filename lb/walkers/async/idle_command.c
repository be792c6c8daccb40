/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A command is two numbers; what else the members need, the leader broadcasts when they obey. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/spare.h"
#include "walkers/async/active.h"
#include "walkers/async/idle.h"
#include "walkers/state/balancer_state.h"
#include "walkers/work/own_load.h"

/* Forms the group whose members the leader has in its search, of this group and of others; `form`
 * does it. */
static int form_found(rg_balancer balancer,
                      int (*form)(rg_balancer balancer, int n, const int ranks[])) {
  rgi_search *idle = &balancer->async.search;
  int size = idle->n;
  RGI_TRY(rg_bcast(balancer->team.own, &size, 1, MPI_INT, 0));
  int *ranks =
      rgi_team_leads(&balancer->team) ? idle->ranks : rgi_spare_alloc((size_t)size * sizeof *ranks);
  idle->ranks = NULL;
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", size);
  int error = rg_bcast(balancer->team.own, ranks, size, MPI_INT, 0);
  if (!error)
    error = rgi_own_load_withdraw(&balancer->async.board);
  if (!error)
    error = form(balancer, size, ranks);
  rgi_spare_free(ranks);
  return error;
}

static int join_group(rg_balancer balancer) {
  RGI_TRY(form_found(balancer, rgi_active_merge));
  return rgi_active_continue(balancer, RGI_WORK_GO_ON);
}

static int form_idle(rg_balancer balancer, int n, const int ranks[]) {
  RGI_TRY(rgi_team_form(&balancer->team, n, ranks));
  double since = balancer->async.search.since;
  RGI_TRY(rgi_active_become_idle(balancer, 0, NULL));
  balancer->async.search.since = since;
  return RG_SUCCESS;
}

static int start_walker(rg_balancer balancer) {
  int next;
  rgi_queue_entry entry = balancer->async.search.part.entry;
  if (rgi_team_leads(&balancer->team) && balancer->async.search.part.credit >= 0) {
    RGI_TRY(rgi_board_lock(&balancer->async.board));
    int error = rgi_internode_arrive(&balancer->async.nodes, balancer->async.search.part.credit);
    rgi_board_unlock(&balancer->async.board);
    RGI_TRY(error);
  }
  balancer->async.search.part = (rgi_search_part){.target = -1};
  balancer->async.board.stamp++;
  RGI_TRY(rgi_work_start(&balancer->work, &entry, &next));
  return rgi_active_continue(balancer, next);
}

/* Brings the states of the walkers that parts start to the leaders of these parts. */
static int spread_states(rg_balancer balancer, int count, rgi_search_part parts[]) {
  for (int i = 0, first = 0; i < count; first += (int)parts[i].ranks, i++) {
    rgi_search_part *part = &parts[i];
    int has = part->starts && part->entry.memory != NULL;
    RGI_TRY(rg_bcast(balancer->team.own, &has, 1, MPI_INT, 0));
    if (!has)
      continue;
    if (!rgi_team_leads(&balancer->team))
      part->entry.memory = rgi_spare_alloc(part->entry.bytes ? part->entry.bytes : 1);
    if (!part->entry.memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", part->entry.bytes);
    RGI_TRY(rg_bcast(balancer->team.own, part->entry.memory, (MPI_Count)part->entry.bytes, MPI_BYTE,
                     0));
    if (balancer->team.me != first) {
      rgi_spare_free(part->entry.memory);
      part->entry.memory = NULL;
    }
  }
  return RG_SUCCESS;
}

static int become_part(rg_balancer balancer, int count, const rgi_search_part parts[]) {
  int i = 0, first = 0;
  while (i + 1 < count && first + parts[i].ranks <= balancer->team.me)
    first += (int)parts[i++].ranks;
  rgi_search_part mine = parts[i];
  RGI_TRY(rgi_team_part(&balancer->team, first, (int)mine.ranks));
  double since = balancer->async.search.since;
  RGI_TRY(rgi_active_become_idle(balancer, 0, &mine));
  balancer->async.search.since = since;
  return RG_SUCCESS;
}

/* The leader has the parts in balancer->async.search.parts; the others get them here. */
static int split_group(rg_balancer balancer, int count) {
  rgi_search_part *parts = rgi_team_leads(&balancer->team)
                               ? balancer->async.search.parts
                               : rgi_spare_alloc((size_t)count * sizeof *parts);
  balancer->async.search.parts = NULL;
  if (!parts)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d parts of a group", count);
  int error = rg_bcast(balancer->team.own, parts, count * (MPI_Count)sizeof *parts, MPI_BYTE, 0);
  if (!error)
    error = spread_states(balancer, count, parts);
  if (!error)
    error = become_part(balancer, count, parts);
  rgi_spare_free(parts);
  return error;
}

int rgi_idle_command_obey(rg_balancer balancer, const int64_t command[2]) {
  double now = rgi_clock_now();
  balancer->counts.idle += now - balancer->async.search.since;
  balancer->async.search.since = now;
  if (command[0] == RGI_IDLE_COMMAND_JOIN)
    return join_group(balancer);
  if (command[0] == RGI_IDLE_COMMAND_START)
    return start_walker(balancer);
  if (command[0] == RGI_IDLE_COMMAND_SPLIT)
    return split_group(balancer, (int)command[1]);
  if (command[0] == RGI_IDLE_COMMAND_GATHER)
    return form_found(balancer, form_idle);
  balancer->stage = RGI_BALANCER_DONE;
  return rgi_own_load_withdraw(&balancer->async.board);
}

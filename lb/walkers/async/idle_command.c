/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A command is two numbers; what else the members need, the leader broadcasts when they obey. */
#include <regroup/collectives.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "walkers/async/active.h"
#include "walkers/async/idle.h"
#include "walkers/state/balancer_state.h"
#include "walkers/work/own_load.h"

/* Forms the group whose members the leader has in its search, of this group and of others; `form`
 * does it. */
static int form_found(rg_balancer b, int (*form)(rg_balancer b, int n, const int ranks[])) {
  rgi_search *idle = &b->async.search;
  int size = idle->n;
  RGI_TRY(rg_bcast(b->team.own, &size, 1, MPI_INT, 0));
  int *ranks = rgi_team_leads(&b->team) ? idle->ranks : malloc((size_t)size * sizeof *ranks);
  idle->ranks = NULL;
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", size);
  int error = rg_bcast(b->team.own, ranks, size, MPI_INT, 0);
  if (!error)
    error = rgi_own_load_withdraw(&b->async.board);
  if (!error)
    error = form(b, size, ranks);
  free(ranks);
  return error;
}

static int join_group(rg_balancer b) {
  RGI_TRY(form_found(b, rgi_active_merge));
  return rgi_active_continue(b, RGI_WORK_GO_ON);
}

static int form_idle(rg_balancer b, int n, const int ranks[]) {
  RGI_TRY(rgi_team_form(&b->team, n, ranks));
  double since = b->async.search.since;
  RGI_TRY(rgi_active_become_idle(b, 0, NULL));
  b->async.search.since = since;
  return RG_SUCCESS;
}

static int start_walker(rg_balancer b) {
  int next;
  rgi_queue_entry entry = b->async.search.part.entry;
  if (rgi_team_leads(&b->team) && b->async.search.part.credit >= 0) {
    RGI_TRY(rgi_board_lock(&b->async.board));
    int error = rgi_internode_arrive(&b->async.nodes, b->async.search.part.credit);
    rgi_board_unlock(&b->async.board);
    RGI_TRY(error);
  }
  b->async.search.part = (rgi_search_part){.target = -1};
  b->async.board.stamp++;
  RGI_TRY(rgi_work_start(&b->work, &entry, &next));
  return rgi_active_continue(b, next);
}

/* Brings the states of the walkers that parts start to the leaders of these parts. */
static int spread_states(rg_balancer b, int count, rgi_search_part parts[]) {
  for (int i = 0, first = 0; i < count; first += (int)parts[i].ranks, i++) {
    rgi_search_part *p = &parts[i];
    int has = p->starts && p->entry.memory != NULL;
    RGI_TRY(rg_bcast(b->team.own, &has, 1, MPI_INT, 0));
    if (!has)
      continue;
    if (!rgi_team_leads(&b->team))
      p->entry.memory = malloc(p->entry.bytes ? p->entry.bytes : 1);
    if (!p->entry.memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", p->entry.bytes);
    RGI_TRY(rg_bcast(b->team.own, p->entry.memory, (MPI_Count)p->entry.bytes, MPI_BYTE, 0));
    if (b->team.me != first) {
      free(p->entry.memory);
      p->entry.memory = NULL;
    }
  }
  return RG_SUCCESS;
}

static int become_part(rg_balancer b, int count, const rgi_search_part parts[]) {
  int i = 0, first = 0;
  while (i + 1 < count && first + parts[i].ranks <= b->team.me)
    first += (int)parts[i++].ranks;
  rgi_search_part mine = parts[i];
  RGI_TRY(rgi_team_part(&b->team, first, (int)mine.ranks));
  double since = b->async.search.since;
  RGI_TRY(rgi_active_become_idle(b, 0, &mine));
  b->async.search.since = since;
  return RG_SUCCESS;
}

/* The leader has the parts in b->async.search.parts; the others get them here. */
static int split_group(rg_balancer b, int count) {
  rgi_search_part *parts =
      rgi_team_leads(&b->team) ? b->async.search.parts : malloc((size_t)count * sizeof *parts);
  b->async.search.parts = NULL;
  if (!parts)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d parts of a group", count);
  int error = rg_bcast(b->team.own, parts, count * (MPI_Count)sizeof *parts, MPI_BYTE, 0);
  if (!error)
    error = spread_states(b, count, parts);
  if (!error)
    error = become_part(b, count, parts);
  free(parts);
  return error;
}

int rgi_idle_command_obey(rg_balancer b, const int64_t command[2]) {
  double now = rgi_clock_now();
  b->counts.idle += now - b->async.search.since;
  b->async.search.since = now;
  if (command[0] == RGI_IDLE_COMMAND_JOIN)
    return join_group(b);
  if (command[0] == RGI_IDLE_COMMAND_START)
    return start_walker(b);
  if (command[0] == RGI_IDLE_COMMAND_SPLIT)
    return split_group(b, (int)command[1]);
  if (command[0] == RGI_IDLE_COMMAND_GATHER)
    return form_found(b, form_idle);
  b->stage = RGI_BALANCER_DONE;
  return rgi_own_load_withdraw(&b->async.board);
}

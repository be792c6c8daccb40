/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "walkers/survive.h"

#include <regroup/collectives.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "formation/group.h"
#include "shm/failure.h"
#include "shm/process.h"
#include "shm/revocation.h"
#include "walkers/async.h"
#include "walkers/vault.h"

static int find_member(const void *members, int world_rank) {
  return rgi_members_find(members, world_rank);
}

static rgi_failure_scope scope_of(const struct rg_balancer_s *b) {
  return (rgi_failure_scope){b->all->members, find_member, b->all->context, 0, {0}};
}

int rgi_survive_trouble(rg_balancer b) {
  if (!b->survives || (rgi_process_deaths() == 0 && !rgi_revocation_any()))
    return 0;
  rgi_failure_scope scope = scope_of(b);
  char *kept = strdupa(rg_error_detail());
  int error = rgi_failure_check(&scope, "balancing");
  if (!error)
    rgi_error(RG_SUCCESS, "%s", kept);
  return error != RG_SUCCESS;
}

int rgi_survive_look(rg_balancer b) {
  if (!b->survives)
    return 0;
  rgi_process_check(rgi_clock_now());
  return rgi_survive_trouble(b);
}

void rgi_survive_scope(rg_balancer b, rgi_wait *w) {
  if (b->survives)
    w->scope = scope_of(b);
}

int rgi_survive_first(const struct rg_balancer_s *b, int rank) {
  return b->first_rank_of ? b->first_rank_of[rank] : rank;
}

/* --- giving up ---------------------------------------------------------------------------- */

static void end_request(rg_request *request) {
  if (*request)
    rg_wait(request, NULL);
}

static void forget_idle(rg_balancer b) {
  rgi_idle *idle = &b->idle;
  end_request(&idle->request);
  free(idle->ranks);
  free(idle->part.entry.memory);
  free(b->parts);
  for (int i = 0; i < b->joiner_count; i++)
    free(b->joiners[i].ranks);
  b->joiner_count = 0;
  b->parts = NULL;
  *idle = (rgi_idle){.asked = -1, .seen = -1, .since = rgi_clock_now(), .part = {.target = -1}};
}

void rgi_survive_forget(rg_balancer b) {
  rg_group_revoke(b->all);
  if (b->crew.n > 1)
    rg_group_revoke(b->crew.group);
  end_request(&b->round);
  forget_idle(b);
  rgi_wire_flush(b);
  rgi_work_leave(b);
  rgi_crew_free(&b->crew);
  rgi_entries_free(&b->work.born);
  rgi_nodes_close(b);
  rgi_board_forget(b);
  rgi_keeper_close(b);
  b->units = 0;
}

/* --- those who are left --------------------------------------------------------------------- */

static int note_ranks(rg_balancer b, rg_group next) {
  int n, *ranks, *firsts;
  RGI_TRY(rg_group_size(next, &n));
  ranks = malloc(2 * (size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  firsts = ranks + n;
  for (int i = 0; i < n; i++)
    ranks[i] = i;
  int error = rg_group_translate(next, n, ranks, b->all, firsts);
  for (int i = 0; i < n && !error; i++)
    ranks[i] = rgi_survive_first(b, firsts[i]);
  if (error) {
    free(ranks);
    return error;
  }
  free(b->first_rank_of);
  b->first_rank_of = ranks;
  return RG_SUCCESS;
}

static int shrink(rg_balancer b) {
  rg_group next;
  RGI_TRY(rg_group_shrink(b->all, &next));
  int error = note_ranks(b, next);
  if (error) {
    rg_group_free(&next);
    return error;
  }
  rg_group_free(&b->all);
  b->all = next;
  RGI_TRY(rg_group_rank(next, &b->rank));
  return rg_group_size(next, &b->size);
}

/* All vaults have what any has, and nothing else. */
static int share_vaults(rg_balancer b) {
  int error = RG_SUCCESS, speaks = rgi_vault_speaks(b);
  if (speaks && rgi_vault_many(b))
    error = rgi_copies_exchange(b);
  if (speaks && !error)
    error = rgi_vault_sweep(b);
  char *text = strdupa(rg_error_detail());
  int met = rg_allreduce(b->all, MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX);
  return error ? rgi_error(error, "%s", text) : met;
}

/* The walkers that are to be worked on, before anybody works; they are the same for all. */
static int lay_out(rg_balancer b) {
  if (b->filled) {
    RGI_TRY(share_vaults(b));
    return rgi_vault_read(b);
  }
  RGI_TRY(rgi_balance_agreement(b));
  RGI_TRY(rgi_vault_open(b));
  return rgi_vault_speaks(b) ? rgi_vault_fill(b) : RG_SUCCESS;
}

/* Whether all have done what they had to; *again: somebody has died meanwhile. */
static int settle(rg_balancer b, int error, int *again) {
  unsigned well = error == RG_SUCCESS;
  char *text = strdupa(rg_error_detail());
  int death = rgi_survive_trouble(b);
  if (death)
    rg_group_revoke(b->all);
  RGI_TRY(rg_group_agree(b->all, &well, again));
  if (*again || well)
    return RG_SUCCESS;
  return error ? rgi_error(error, "%s", text)
               : rgi_error(RG_ERR_NOMEM, "another process could not begin to balance");
}

/* The states are in the vault now. */
static void filled(rg_balancer b) {
  b->filled = 1;
  for (int i = 0; i < b->list.count; i++) {
    free(b->list.at[i].memory);
    b->list.at[i].memory = NULL;
    b->list.at[i].bytes = 0;
  }
}

static int lay_out_until_settled(rg_balancer b, int shrinks) {
  for (int again = shrinks;;) {
    if (again)
      RGI_TRY(shrink(b));
    RGI_TRY(settle(b, lay_out(b), &again));
    if (!again)
      break;
  }
  filled(b);
  return rgi_balance_prepare(b);
}

static int begin_round(rg_balancer b) {
  RGI_TRY(rgi_keeper_open(b));
  return b->policy.interval > 0 ? rgi_sync_begin(b) : rgi_async_begin(b);
}

/* --- after a death --------------------------------------------------------------------------- */

/* The dead of whom it has not been told yet. */
static void tell(rg_balancer b, double noticed, const int before[], int n) {
  rg_balance_death d = {.noticed = noticed, .back = rgi_clock_now(), .left = b->size};
  for (int i = 0, at = 0; i < n && b->options.died; i++) {
    if (at < b->size && rgi_survive_first(b, at) == before[i]) {
      at++;
      continue;
    }
    d.rank = before[i];
    b->options.died(&d, b->options.context);
  }
}

/* agreed: all have said that there is trouble. */
static int recover(rg_balancer b, int agreed) {
  for (;; agreed = 0) {
    unsigned word = 0;
    rgi_survive_forget(b);
    if (!agreed)
      RGI_TRY(rg_group_agree(b->all, &word, NULL));
    RGI_TRY(lay_out_until_settled(b, 1));
    b->stage = RGI_RUNNING;
    int error = begin_round(b);
    if (!error)
      return RG_SUCCESS;
    if (!rgi_survive_trouble(b))
      return error;
  }
}

static int begin(rg_balancer b, int agreed) {
  (void)agreed;
  b->stage = RGI_RUNNING;
  int error = lay_out_until_settled(b, 0);
  if (error) {
    b->stage = RGI_NEW;
    return error;
  }
  error = begin_round(b);
  return error && rgi_survive_trouble(b) ? recover(b, 0) : error;
}

/* Tells of those who are no member any more afterwards. */
static int do_and_tell(rg_balancer b, int (*what)(rg_balancer b, int agreed), int agreed) {
  double noticed = rgi_clock_now();
  int n = b->size;
  int *before = malloc((size_t)n * sizeof *before);
  if (!before)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", n);
  for (int i = 0; i < n; i++)
    before[i] = rgi_survive_first(b, i);
  int error = what(b, agreed);
  if (!error)
    tell(b, noticed, before, n);
  free(before);
  return error;
}

int rgi_survive_begin(rg_balancer b) {
  return do_and_tell(b, begin, 0);
}

int rgi_survive_recover(rg_balancer b) {
  return do_and_tell(b, recover, 0);
}

/* --- the end ------------------------------------------------------------------------------------
 */

int rgi_survive_end(rg_balancer b, int *done) {
  int many = rgi_vault_many(b), failed;
  int error = b->board || many ? rgi_async_end(b) : RG_SUCCESS;
  if (!error && many)
    error = share_vaults(b);
  rgi_outcomes_free(&b->outcomes);
  if (!error)
    error = rgi_vault_outcomes(b, 0, &b->outcomes);
  if (!error)
    error = rgi_outcome_report(b);
  char *text = strdupa(rg_error_detail());
  unsigned well = !rgi_survive_trouble(b);
  if (!well)
    rg_group_revoke(b->all);
  RGI_TRY(rg_group_agree(b->all, &well, &failed));
  *done = well && !failed;
  if (*done)
    return error ? rgi_error(error, "%s", text) : RG_SUCCESS;
  return do_and_tell(b, recover, 1);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processes that balance. Applications know the ranks of the first group. So after a death each
 * process keeps for each rank of the present group the rank that it had at first. */
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "base/spare.h"
#include "formation/group.h"
#include "formation/members.h"
#include "machine/domain.h"
#include "progress/wait.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"
#include "shm/revocation.h"
#include "walkers/team/membership.h"

int rgi_membership_open(rgi_membership *members, rg_group group) {
  *members = (rgi_membership){.survives = rgi_options_choice(RGI_OPT_SURVIVE) != 0};
  RGI_TRY(rg_group_dup(group, &members->group));
  members->group->diverged = 1; /* after a run that has failed members have formed other groups */
  RGI_TRY(rg_group_dup(members->group, &members->first));
  RGI_TRY(rg_group_rank(members->group, &members->rank));
  RGI_TRY(rg_group_size(members->group, &members->size));
  members->first_rank = members->rank;
  members->first_size = members->size;
  members->first_context = members->group->context;
  members->spanned = rgi_membership_spans_nodes(members);
  return RG_SUCCESS;
}

void rgi_membership_close(rgi_membership *members) {
  rgi_spare_free(members->first_rank_of);
  members->first_rank_of = NULL;
  rg_group_free(&members->group);
  rg_group_free(&members->first);
}

/* --- deaths ------------------------------------------------------------------------------- */

static int note_ranks(rgi_membership *members, rg_group next) {
  int n, *ranks, *firsts;
  RGI_TRY(rg_group_size(next, &n));
  ranks = rgi_spare_alloc(2 * (size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  firsts = ranks + n;
  for (int i = 0; i < n; i++)
    ranks[i] = i;
  int error = rg_group_translate(next, n, ranks, members->group, firsts);
  for (int i = 0; i < n && !error; i++)
    ranks[i] = rgi_membership_first_rank(members, firsts[i]);
  if (error) {
    rgi_spare_free(ranks);
    return error;
  }
  rgi_spare_free(members->first_rank_of);
  members->first_rank_of = ranks;
  return RG_SUCCESS;
}

int rgi_membership_shrink(rgi_membership *members) {
  rg_group next;
  RGI_TRY(rg_group_shrink(members->group, &next));
  int error = note_ranks(members, next);
  if (error) {
    rg_group_free(&next);
    return error;
  }
  rg_group_free(&members->group);
  members->group = next;
  RGI_TRY(rg_group_rank(next, &members->rank));
  return rg_group_size(next, &members->size);
}

int rgi_membership_renew(rgi_membership *members) {
  rg_group next;
  RGI_TRY(rg_group_dup(members->group, &next));
  rg_group_free(&members->group);
  members->group = next;
  return RG_SUCCESS;
}

static int find_member(const void *members, int world_rank) {
  return rgi_members_find(members, world_rank);
}

static rgi_failure_scope scope_of(const rgi_membership *members) {
  return (rgi_failure_scope){
      .members = members->group->members, .find = find_member, .context = members->group->context};
}

int rgi_membership_failure(const rgi_membership *members) {
  if (!members->survives || (rgi_process_deaths() == 0 && !rgi_revocation_any()))
    return 0;
  rgi_failure_scope scope = scope_of(members);
  char *kept = strdupa(rg_error_detail());
  int error = rgi_failure_check(&scope, "balancing");
  if (!error)
    rgi_error(RG_SUCCESS, "%s", kept);
  return error != RG_SUCCESS;
}

int rgi_membership_check(const rgi_membership *members, int64_t walker) {
  return rgi_membership_failure(members)
             ? rgi_error(RG_ERR_PROC_FAILED, "walker %lld: a process has died", (long long)walker)
             : RG_SUCCESS;
}

int rgi_membership_look(const rgi_membership *members) {
  if (!members->survives)
    return 0;
  rgi_process_check(rgi_clock_now());
  return rgi_membership_failure(members);
}

void rgi_membership_start_wait(const rgi_membership *members, const char *call, rgi_wait *waiting) {
  rgi_wait_start_unscoped(waiting, call, -1);
  waiting->scope = scope_of(members);
}

/* --- where the members are ------------------------------------------------------------------ */

int rgi_membership_first_rank(const rgi_membership *members, int rank) {
  return members->first_rank_of ? members->first_rank_of[rank] : rank;
}

int rgi_membership_node_of(const rgi_membership *members, int rank) {
  return rgi_node_of(rgi_members_at(members->group->members, rank));
}

int rgi_membership_place(const rgi_membership *members, int rank) {
  return rgi_node_find(rgi_members_at(members->group->members, rank));
}

int rgi_membership_spans_nodes(const rgi_membership *members) {
  int here = 0;
  for (int r = 0; r < members->size; r++)
    here += rgi_membership_place(members, r) >= 0;
  return here < members->size;
}

int rgi_membership_leads_node(const rgi_membership *members) {
  int r = 0;
  while (rgi_membership_place(members, r) < 0)
    r++;
  return r == members->rank;
}

int rgi_membership_buddies(const rgi_membership *members, int buddies[]) {
  size_t n = (size_t)members->size;
  uint64_t *domain = rgi_spare_alloc(n * (sizeof *domain + sizeof(int)));
  if (!domain)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d ranks", members->size);
  int *node = (int *)(void *)(domain + n);
  for (int r = 0; r < members->size; r++) {
    node[r] = rgi_membership_node_of(members, r);
    domain[r] = rgi_domain_of(rgi_members_at(members->group->members, r));
  }
  int error = rgi_domain_holders(members->size, node, rgi_node.count, domain, buddies);
  rgi_spare_free(domain);
  return error;
}

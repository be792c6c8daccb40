/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a program calls after a death: the failed members, revocation, agreement, shrinking.
 * Agreement and shrinking are decisions of the living members (group_decision.h). Shrinking decides
 * which members are dead;
 * the survivors' group gets its context from the number of that round, so that all of its members
 * compute the same one. */
#include <regroup/recovery.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/options.h"
#include "base/spare.h"
#include "collectives/group/coll_of_group.h"
#include "formation/group.h"
#include "noded/client/overlay_client.h"
#include "recovery/group_decision.h"
#include "shm/process.h"

int rg_group_failed(rg_group g, int max, int ranks[], int *n) {
  int found = 0;
  RGI_REQUIRE(n);
  if (max < 0 || (max > 0 && !ranks))
    return rgi_error(RG_ERR_ARG, "%s: no room for %d ranks", __func__, max);
  RGI_TRY(rgi_group_check_member(__func__, g));
  rgi_process_check_now();
  for (int i = 0, all = rgi_process_deaths(); i < all; i++) {
    int rank = rgi_members_find(g->members, rgi_process_death(i));
    if (rank >= 0 && found++ < max)
      ranks[found - 1] = rank;
  }
  *n = found;
  return RG_SUCCESS;
}

int rg_restart_count(int64_t *n) {
  RGI_REQUIRE(n);
  RGI_TRY(rgi_options_ready());
  *n = (int64_t)rgi_options_value(RGI_OPT_RESTARTS);
  return RG_SUCCESS;
}

int rg_group_revoke(rg_group g) {
  RGI_TRY(rgi_group_check_member(__func__, g));
  int here = rgi_members_here(g->members) == rgi_members_count(g->members);
  return rgi_overlay_revoke_group(g->context, here) == RG_SUCCESS
             ? RG_SUCCESS
             : rgi_error(RG_ERR_LIMIT, "rg_group_revoke: %d groups are revoked and not freed",
                         RGI_REVOCATIONS_MOST);
}

int rg_group_agree(rg_group g, unsigned *word, int *failed) {
  rgi_group_decision decision;
  RGI_REQUIRE(word);
  RGI_TRY(rgi_group_check_member(__func__, g));
  RGI_TRY(rgi_group_decision_make(g, __func__, *word, 1, &decision));
  rgi_spare_free(decision.dead);
  *word = decision.word;
  if (failed)
    *failed = decision.deaths > 0;
  return RG_SUCCESS;
}

/* The members that are not dead in the decision, in order. */
static int living_members(rg_group g, const rgi_group_decision *decision, rgi_members **members) {
  int n = rgi_members_count(g->members), left = 0;
  int *at = rgi_spare_alloc((size_t)n * sizeof *at);
  if (!at)
    return rgi_error(RG_ERR_NOMEM, "rg_group_shrink: no memory for %d members", n);
  for (int i = 0; i < n; i++)
    if (!decision->dead[i])
      at[left++] = i;
  int error = rgi_members_pick("rg_group_shrink", g->members, left, at, members);
  rgi_spare_free(at);
  return error;
}

/* Whether nodes could agree only by daemons that do not exist: such a job ends when a member dies.
 */
static int has_no_deaths(rg_group g) {
  int dead;
  return rgi_members_here(g->members) < rgi_members_count(g->members) && !rgi_overlay_exists() &&
         !rg_group_failed(g, 0, NULL, &dead) && dead == 0;
}

/* All members form it in the same order, so that it needs no agreement. It shares no state with g,
 * which may have been revoked. */
static int duplicate(rg_group g, rg_group *copy) {
  rg_group made;
  RGI_TRY(rg_group_dup(g, &made));
  made->diverged = 1;
  *copy = made;
  return RG_SUCCESS;
}

int rg_group_shrink(rg_group g, rg_group *survivors) {
  rgi_group_decision decision;
  rgi_members *members;
  RGI_REQUIRE(survivors);
  RGI_TRY(rgi_group_check_member(__func__, g));
  if (has_no_deaths(g))
    return duplicate(g, survivors);
  RGI_TRY(rgi_group_decision_make(g, __func__, ~0u, 0, &decision));
  int error = living_members(g, &decision, &members);
  rgi_spare_free(decision.dead);
  if (error)
    return error;
  /* All survivors know the number of the round, and no other group has this context. */
  uint64_t context =
      rgi_mix_bits(g->context + 0x73757276u + ((uint64_t)*rgi_group_rounds(g) << 32));
  rg_group made;
  RGI_TRY(rgi_group_with_context(members, g->tag, context, &made));
  made->diverged = 1;
  memcpy(made->creation_ids, g->creation_ids, sizeof made->creation_ids);
  rgi_coll_attach_surviving(__func__, made);
  *survivors = made;
  return RG_SUCCESS;
}

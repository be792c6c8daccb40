/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A team has two groups of the same members. The application's functions get the first; when one of
 * them fails there, that group is revoked, so that no member waits in it for the one that has left.
 * The second is the library's: by it the members agree about the error afterwards. Both are revoked
 * with the balancer's group: a member that gives up for a death revokes that one alone. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/group.h"
#include "formation/members.h"
#include "timeline/timeline.h"
#include "walkers/team/membership.h"
#include "walkers/team/team.h"

/* An application may form a group of the same members. It most likely has another tag; if not, it
 * has another number in the order of creations. */
enum { TAG = 0x0ba1a4ce, OWN_TAG };

/* The team without its group, from which another one is formed. */
static rgi_team empty_team(const rgi_team *team) {
  return (rgi_team){.members = team->members,
                    .timeline = team->timeline,
                    .part = team->part,
                    .formed = team->formed,
                    .first_size = team->first_size};
}

void rgi_team_free(rgi_team *team) {
  rg_group_free(&team->group);
  rg_group_free(&team->own);
  rgi_spare_free(team->ranks);
  *team = empty_team(team);
}

static void look_at_ranks(rgi_team *team) {
  int highest = rgi_membership_first_rank(team->members, team->ranks[0]);
  team->lowest = highest;
  team->node = rgi_membership_node_of(team->members, team->ranks[0]) + 1;
  for (int i = 1; i < team->n; i++) {
    int rank = rgi_membership_first_rank(team->members, team->ranks[i]);
    team->lowest = rank < team->lowest ? rank : team->lowest;
    highest = rank > highest ? rank : highest;
    if (rgi_membership_node_of(team->members, team->ranks[i]) + 1 != team->node)
      team->node = 0;
  }
  team->together = highest - team->lowest == team->n - 1;
}

/* The application's group. It shares no state with other groups of the same members, so that
 * revoking it revokes no other. */
static int make_group(const rgi_team *team, rg_group *group) {
  RGI_TRY(rg_group_create(team->members->group, team->n, team->ranks, TAG, group));
  (*group)->diverged = 1;
  /* Groups formed from it (by an array, say) are revoked with it. */
  (*group)->creation_ids[0] = (*group)->context;
  (*group)->creation_ids[1] = team->members->group->context;
  return RG_SUCCESS;
}

/* The library's group. */
static int make_own(rgi_team *team) {
  RGI_TRY(rg_group_create(team->members->group, team->n, team->ranks, OWN_TAG, &team->own));
  team->own->creation_ids[1] = team->members->group->context;
  return RG_SUCCESS;
}

int rgi_team_renew(rgi_team *team) {
  rg_group fresh;
  if (team->n == 1)
    return RG_SUCCESS;
  RGI_TRY(make_group(team, &fresh));
  rg_group_free(&team->group);
  team->group = fresh;
  return RG_SUCCESS;
}

int rgi_team_form(rgi_team *team, int n, const int ranks[]) {
  rgi_team next = empty_team(team);
  next.n = n;
  next.ranks = rgi_spare_alloc((size_t)n * sizeof *ranks);
  if (!next.ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  memcpy(next.ranks, ranks, (size_t)n * sizeof *ranks);
  look_at_ranks(&next);
  int error = make_own(&next);
  if (!error)
    error = make_group(&next, &next.group);
  if (!error)
    error = rg_group_rank(next.group, &next.me);
  if (error) {
    rgi_team_free(&next);
    return error;
  }
  rgi_team_free(team);
  *team = next;
  team->formed++;
  return RG_SUCCESS;
}

int rgi_team_part(rgi_team *team, int first, int n) {
  return rgi_team_form(team, n, team->ranks + first);
}

int rgi_team_first_number(const rgi_team *team) {
  return team->members->rank / team->first_size;
}

int rgi_team_first_count(const rgi_team *team) {
  return (team->members->size - 1) / team->first_size + 1;
}

int rgi_team_first_of(const rgi_team *team, int number) {
  int rest = team->members->size - number * team->first_size;
  return rest < team->first_size ? rest : team->first_size;
}

int rgi_team_first(rgi_team *team, int head) {
  int number = rgi_team_first_number(team), first = number * team->first_size;
  int n = rgi_team_first_of(team, number);
  if (head < n && team->members->rank >= first + head) {
    first += head;
    n -= head;
  } else if (head < n) {
    n = head;
  }
  int *ranks = rgi_spare_alloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  for (int i = 0; i < n; i++)
    ranks[i] = first + i;
  int error = rgi_team_form(team, n, ranks);
  rgi_spare_free(ranks);
  return error;
}

/* --- the timeline --------------------------------------------------------------------------- */

/* In ranks of the library's world: the timeline may be other balancers' too. */
static void mark_span(const rgi_team *team, rg_span_kind kind, int64_t walker) {
  if (!team->timeline)
    return;
  const rgi_members *all = team->members->first->members;
  int first = rgi_members_at(all, team->lowest);
  rg_span span = {
      .kind = kind, .key = walker, .first = first, .size = team->n, .group = (int32_t)team->formed};
  span.together =
      team->together && rgi_members_at(all, team->lowest + team->n - 1) == first + team->n - 1;
  rgi_timeline_part_mark(team->timeline, team->part, &span);
}

void rgi_team_mark(const rgi_team *team, rg_span_kind kind) {
  mark_span(team, kind, 0);
}

void rgi_team_mark_work(const rgi_team *team, int64_t walker) {
  mark_span(team, RG_SPAN_WORK, walker);
}

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
#include "formation/group.h"
#include "formation/members.h"
#include "timeline/timeline.h"
#include "walkers/team/membership.h"
#include "walkers/team/team.h"

/* An application may form a group of the same members. It most likely has another tag; if not, it
 * has another number in the order of creations. */
enum { TAG = 0x0ba1a4ce, OWN_TAG };

/* The team without its group, from which another one is formed. */
static rgi_team empty_team(const rgi_team *t) {
  return (rgi_team){.members = t->members,
                    .timeline = t->timeline,
                    .part = t->part,
                    .formed = t->formed,
                    .first_size = t->first_size};
}

void rgi_team_free(rgi_team *t) {
  rg_group_free(&t->group);
  rg_group_free(&t->own);
  free(t->ranks);
  *t = empty_team(t);
}

static void look_at_ranks(rgi_team *t) {
  int highest = rgi_membership_first_rank(t->members, t->ranks[0]);
  t->lowest = highest;
  t->node = rgi_membership_node_of(t->members, t->ranks[0]) + 1;
  for (int i = 1; i < t->n; i++) {
    int rank = rgi_membership_first_rank(t->members, t->ranks[i]);
    t->lowest = rank < t->lowest ? rank : t->lowest;
    highest = rank > highest ? rank : highest;
    if (rgi_membership_node_of(t->members, t->ranks[i]) + 1 != t->node)
      t->node = 0;
  }
  t->together = highest - t->lowest == t->n - 1;
}

/* The application's group. It shares no state with other groups of the same members, so that
 * revoking it revokes no other. */
static int make_group(const rgi_team *t, rg_group *g) {
  RGI_TRY(rg_group_create(t->members->group, t->n, t->ranks, TAG, g));
  (*g)->diverged = 1;
  /* Groups formed from it (by an array, say) are revoked with it. */
  (*g)->creation_ids[0] = (*g)->context;
  (*g)->creation_ids[1] = t->members->group->context;
  return RG_SUCCESS;
}

/* The library's group. */
static int make_own(rgi_team *t) {
  RGI_TRY(rg_group_create(t->members->group, t->n, t->ranks, OWN_TAG, &t->own));
  t->own->creation_ids[1] = t->members->group->context;
  return RG_SUCCESS;
}

int rgi_team_renew(rgi_team *t) {
  rg_group fresh;
  if (t->n == 1)
    return RG_SUCCESS;
  RGI_TRY(make_group(t, &fresh));
  rg_group_free(&t->group);
  t->group = fresh;
  return RG_SUCCESS;
}

int rgi_team_form(rgi_team *t, int n, const int ranks[]) {
  rgi_team next = empty_team(t);
  next.n = n;
  next.ranks = malloc((size_t)n * sizeof *ranks);
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
  rgi_team_free(t);
  *t = next;
  t->formed++;
  return RG_SUCCESS;
}

int rgi_team_part(rgi_team *t, int first, int n) {
  return rgi_team_form(t, n, t->ranks + first);
}

int rgi_team_first_number(const rgi_team *t) {
  return t->members->rank / t->first_size;
}

int rgi_team_first_count(const rgi_team *t) {
  return (t->members->size - 1) / t->first_size + 1;
}

int rgi_team_first_of(const rgi_team *t, int number) {
  int rest = t->members->size - number * t->first_size;
  return rest < t->first_size ? rest : t->first_size;
}

int rgi_team_first(rgi_team *t, int head) {
  int number = rgi_team_first_number(t), first = number * t->first_size;
  int n = rgi_team_first_of(t, number);
  if (head < n && t->members->rank >= first + head) {
    first += head;
    n -= head;
  } else if (head < n) {
    n = head;
  }
  int *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  for (int i = 0; i < n; i++)
    ranks[i] = first + i;
  int error = rgi_team_form(t, n, ranks);
  free(ranks);
  return error;
}

/* --- the timeline --------------------------------------------------------------------------- */

/* In ranks of the library's world: the timeline may be other balancers' too. */
static void mark_span(const rgi_team *t, rg_span_kind kind, int64_t walker) {
  if (!t->timeline)
    return;
  const rgi_members *all = t->members->first->members;
  int first = rgi_members_at(all, t->lowest);
  rg_span span = {
      .kind = kind, .key = walker, .first = first, .size = t->n, .group = (int32_t)t->formed};
  span.together = t->together && rgi_members_at(all, t->lowest + t->n - 1) == first + t->n - 1;
  rgi_timeline_part_mark(t->timeline, t->part, &span);
}

void rgi_team_mark(const rgi_team *t, rg_span_kind kind) {
  mark_span(t, kind, 0);
}

void rgi_team_mark_work(const rgi_team *t, int64_t walker) {
  mark_span(t, RG_SPAN_WORK, walker);
}

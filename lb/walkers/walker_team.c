/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A team has two groups of the same members. The application's functions get the first; when one of
 * them fails there, that group is revoked, so that no member waits in it for the one that has left.
 * The second is the library's: by it the members agree about the error afterwards. */
#include <regroup/collectives.h>
#include <regroup/recovery.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/group.h"
#include "shm/failure.h"
#include "shm/revocation.h"
#include "walkers/balancer_state.h"
#include "walkers/survival.h"
#include "walkers/walker_team.h"

/* An application may form a group of the same members. It most likely has another tag; if not, it
 * has another number in the order of creations. */
enum { TAG = 0x0ba1a4ce, OWN_TAG };

void rgi_walker_team_free(rgi_balancer_team *c) {
  rg_group_free(&c->group);
  rg_group_free(&c->own);
  free(c->ranks);
  *c = (rgi_balancer_team){0};
}

static void look_at_ranks(const struct rg_balancer_s *b, rgi_balancer_team *c) {
  int highest = rgi_survival_first_rank(b, c->ranks[0]);
  c->lowest = highest;
  for (int i = 1; i < c->n; i++) {
    int rank = rgi_survival_first_rank(b, c->ranks[i]);
    c->lowest = rank < c->lowest ? rank : c->lowest;
    highest = rank > highest ? rank : highest;
  }
  c->together = highest - c->lowest == c->n - 1;
}

/* The application's group. It shares no state with other groups of the same members, so that
 * revoking it revokes no other. */
static int make_group(rg_balancer b, const rgi_balancer_team *c, rg_group *g) {
  RGI_TRY(rg_group_create(b->all, c->n, c->ranks, TAG, g));
  (*g)->diverged = 1;
  /* Groups formed from it (by an array, say) are revoked with it. */
  (*g)->creation_ids[RGI_CREATION_IDS - 1] = (*g)->context;
  return RG_SUCCESS;
}

/* A member that gives up for a death which the others cannot see revokes the groups that it has, so
 * that no process waits for it. It cannot revoke a group that it has not formed yet. So the members
 * wait here until all have formed it; the wait ends when the balancer's group is revoked. */
static int await_members(rg_balancer b, const rgi_balancer_team *c) {
  if (!b->survives || c->n == 1)
    return RG_SUCCESS;
  c->own->creation_ids[RGI_CREATION_IDS - 1] = b->all->context;
  int error = rg_barrier(c->own);
  if (error)
    rg_group_revoke(c->group);
  return error;
}

int rgi_walker_team_renew(rg_balancer b) {
  rg_group fresh;
  if (!rgi_revocation_has(b->team.group->context))
    return RG_SUCCESS;
  RGI_TRY(make_group(b, &b->team, &fresh));
  rg_group_free(&b->team.group);
  b->team.group = fresh;
  return RG_SUCCESS;
}

int rgi_walker_team_form(rg_balancer b, int n, const int ranks[]) {
  rgi_balancer_team c = {.n = n, .ranks = malloc((size_t)n * sizeof *ranks)};
  if (!c.ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  memcpy(c.ranks, ranks, (size_t)n * sizeof *ranks);
  look_at_ranks(b, &c);
  int error = rg_group_create(b->all, n, ranks, OWN_TAG, &c.own);
  if (!error)
    error = make_group(b, &c, &c.group);
  if (!error)
    error = rg_group_rank(c.group, &c.me);
  if (!error)
    error = await_members(b, &c);
  if (error) {
    rgi_walker_team_free(&c);
    return error;
  }
  rgi_walker_team_free(&b->team);
  b->team = c;
  b->counts.groups++;
  b->work.walker.waited = 0;
  return RG_SUCCESS;
}

int rgi_walker_team_part(rg_balancer b, int first, int n) {
  int *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  memcpy(ranks, b->team.ranks + first, (size_t)n * sizeof *ranks);
  int error = rgi_walker_team_form(b, n, ranks);
  free(ranks);
  return error;
}

int rgi_walker_team_first(rg_balancer b) {
  int first = b->rank / b->group_size * b->group_size, rest = b->size - first;
  int n = rest < b->group_size ? rest : b->group_size;
  int *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  for (int i = 0; i < n; i++)
    ranks[i] = first + i;
  int error = rgi_walker_team_form(b, n, ranks);
  free(ranks);
  return error;
}

void rgi_walker_team_mark(rg_balancer b, rg_span_kind kind) {
  const rgi_balancer_team *c = &b->team;
  if (!b->options.timeline)
    return;
  rg_span span = {.kind = kind,
                  .key = kind == RG_SPAN_WORK ? b->work.walker.id : 0,
                  .first = c->lowest,
                  .size = c->n,
                  .group = (int32_t)b->counts.groups,
                  .together = c->together};
  rg_timeline_mark(b->options.timeline, &span);
}

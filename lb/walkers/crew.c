/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>
#include <string.h>

#include <regroup/collectives.h>
#include <regroup/recovery.h>

#include "base/error.h"
#include "formation/group.h"
#include "shm/failure.h"
#include "shm/revocation.h"
#include "walkers/balancer.h"
#include "walkers/survive.h"

/* Groups of an application's own with the same members have another tag, most likely;
 * and if not, another number in their order. */
enum { TAG = 0x0ba1a4ce, OWN_TAG };

void rgi_crew_free(rgi_crew *c) {
  rg_group_free(&c->group);
  rg_group_free(&c->own);
  free(c->ranks);
  *c = (rgi_crew){0};
}

static void look_at_ranks(const struct rg_balancer_s *b, rgi_crew *c) {
  int highest = rgi_survive_first(b, c->ranks[0]);
  c->lowest = highest;
  for (int i = 1; i < c->n; i++) {
    int rank = rgi_survive_first(b, c->ranks[i]);
    c->lowest = rank < c->lowest ? rank : c->lowest;
    highest = rank > highest ? rank : highest;
  }
  c->together = highest - c->lowest == c->n - 1;
}

/* The application's group. Its seats are its own: when it is revoked, no other group with the
 * same members is the worse for it. */
static int make_group(rg_balancer b, const rgi_crew *c, rg_group *g) {
  RGI_TRY(rg_group_create(b->all, c->n, c->ranks, TAG, g));
  (*g)->diverged = 1;
  /* What is formed from it (by an array, say) is revoked with it. */
  (*g)->creation_ids[RGI_CREATION_IDS - 1] = (*g)->context;
  return RG_SUCCESS;
}

/* Who leaves for a death that the others cannot see revokes all groups that it has: nobody is to
 * wait for it. What it has not formed yet it cannot revoke: so nobody goes on before all have
 * come, and that wait ends when the group of all is revoked. */
static int meet(rg_balancer b, const rgi_crew *c) {
  if (!b->survives || c->n == 1)
    return RG_SUCCESS;
  c->own->creation_ids[RGI_CREATION_IDS - 1] = b->all->context;
  int error = rg_barrier(c->own);
  if (error)
    rg_group_revoke(c->group);
  return error;
}

int rgi_crew_renew(rg_balancer b) {
  rg_group fresh;
  if (!rgi_revocation_has(b->crew.group->context))
    return RG_SUCCESS;
  RGI_TRY(make_group(b, &b->crew, &fresh));
  rg_group_free(&b->crew.group);
  b->crew.group = fresh;
  return RG_SUCCESS;
}

int rgi_crew_form(rg_balancer b, int n, const int ranks[]) {
  rgi_crew c = {.n = n, .ranks = malloc((size_t)n * sizeof *ranks)};
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
    error = meet(b, &c);
  if (error) {
    rgi_crew_free(&c);
    return error;
  }
  rgi_crew_free(&b->crew);
  b->crew = c;
  b->formations++;
  b->counts.groups++;
  b->work.walker.waited = 0;
  return RG_SUCCESS;
}

int rgi_crew_part(rg_balancer b, int first, int n) {
  int *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  memcpy(ranks, b->crew.ranks + first, (size_t)n * sizeof *ranks);
  int error = rgi_crew_form(b, n, ranks);
  free(ranks);
  return error;
}

int rgi_crew_first(rg_balancer b) {
  int first = b->rank / b->group_size * b->group_size, rest = b->size - first;
  int n = rest < b->group_size ? rest : b->group_size;
  int *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  for (int i = 0; i < n; i++)
    ranks[i] = first + i;
  int error = rgi_crew_form(b, n, ranks);
  free(ranks);
  return error;
}

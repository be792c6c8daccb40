/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <stdlib.h>
#include <string.h>

#include "balancer.h"
#include "runtime/error.h"

/* Groups of an application's own with the same members have another tag, most likely;
 * and if not, another number in their order. */
enum { TAG = 0x0ba1a4ce };

void rgi_crew_free(rgi_crew *c) {
  rg_group_free(&c->group);
  rg_group_free(&c->own);
  free(c->ranks);
  *c = (rgi_crew){0};
}

static void look_at_ranks(rgi_crew *c) {
  int highest = c->ranks[0];
  c->lowest = c->ranks[0];
  for (int i = 1; i < c->n; i++) {
    c->lowest = c->ranks[i] < c->lowest ? c->ranks[i] : c->lowest;
    highest = c->ranks[i] > highest ? c->ranks[i] : highest;
  }
  c->together = highest - c->lowest == c->n - 1;
}

int rgi_crew_form(rg_balancer b, int n, const int ranks[]) {
  rgi_crew c = {.n = n, .ranks = malloc((size_t)n * sizeof *ranks)};
  if (!c.ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", n);
  memcpy(c.ranks, ranks, (size_t)n * sizeof *ranks);
  look_at_ranks(&c);
  int error = rg_group_create(b->all, n, ranks, TAG, &c.group);
  if (!error)
    error = rg_group_dup(c.group, &c.own);
  if (!error)
    error = rg_group_rank(c.group, &c.me);
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

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Groups of hardware levels. Above the first level all members exchange their parts
 * (level_call.h); from then on each computes its own groups, without a message. */
#include <regroup/collectives.h>
#include <regroup/topology.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "collectives/calls/group_error.h"
#include "topology/group_places.h"
#include "topology/level_call.h"

/* The step from a group to the level below it. */
typedef struct {
  const rgi_level_call *split;
  rg_group above;
  const rgi_places *places;
  rgi_level_call_part *all; /* of the members of above, by rank */
  uint64_t derivation;      /* of the groups that the step makes */
} group_step;

/* Parts of one derivation (rgi_group_derive_part): a level is told apart by its first rank. */
#define ROOTS UINT32_MAX

typedef struct {
  int key, rank;
} keyed_rank;

static int by_key(const void *a, const void *b) {
  const keyed_rank *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

static int group_of_ranks(const group_step *step, int n, const int ranks[], uint32_t part,
                          rg_group *g) {
  rgi_members *members;
  RGI_TRY(rgi_members_pick(step->split->call, step->above->members, n, ranks, &members));
  return rgi_group_derive_part(step->above, step->derivation, part, members, g);
}

/* The group of the caller's level, ordered by (key, rank); order and ranks: room for its members.
 */
static int order_level(const group_step *step, const rgi_places_level *level, keyed_rank order[],
                       int ranks[], rg_group *g) {
  const rgi_places *places = step->places;
  int n = 0;
  for (int row = 0; row < places->rows; row++)
    if (rgi_places_level_has(places, places->me, level, row))
      order[n++] = (keyed_rank){step->all[places->at[row].rank].key, places->at[row].rank};
  qsort(order, (size_t)n, sizeof *order, by_key);
  for (int i = 0; i < n; i++)
    ranks[i] = order[i].rank;
  return group_of_ranks(step, n, ranks, (uint32_t)level->first, g);
}

static int describe_level(const group_step *step, const rgi_places_level *level, rg_group g) {
  const rgi_places *places = step->places;
  char types[RGI_PLACES_TYPES];
  rgi_group_places info = {
      .type = rgi_places_level_types(places, places->me, step->split->choice, level, types)};
  int *keys = rgi_spare_alloc((size_t)places->size * sizeof *keys);
  for (int r = 0; keys && r < places->size; r++)
    keys[r] = step->all[r].key;
  info.siblings = rgi_level_call_siblings(step->all, places->size, level->first, &info.index);
  int error = rgi_group_places_set(
      step->split->call, g, keys ? rgi_places_below(places, places->me, level, keys) : NULL, &info);
  rgi_spare_free(keys);
  return error;
}

static int make_level(const group_step *step, rg_group *g) {
  rgi_places_level level;
  rg_group made;
  if (!rgi_places_level_below(step->places, step->places->me, step->split->choice, &level))
    return RG_SUCCESS;
  keyed_rank *order = rgi_spare_alloc((size_t)level.count * sizeof *order);
  int *ranks = rgi_spare_alloc((size_t)level.count * sizeof *ranks);
  int error = order && ranks ? order_level(step, &level, order, ranks, &made)
                             : rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members",
                                         step->split->call, level.count);
  rgi_spare_free(order);
  rgi_spare_free(ranks);
  if (error)
    return error;
  error = describe_level(step, &level, made);
  if (error)
    rg_group_free(&made);
  else
    *g = made;
  return error;
}

/* The group of the first ranks of all levels, in which the caller is one. */
static int make_roots(const group_step *step, rg_group *roots) {
  int n = 0, me = step->above->me, *ranks;
  if (step->all[me].first != me)
    return RG_SUCCESS;
  ranks = rgi_spare_alloc((size_t)step->places->size * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for the roots", step->split->call);
  for (int r = 0; r < step->places->size; r++)
    if (step->all[r].first == r)
      ranks[n++] = r;
  int error = group_of_ranks(step, n, ranks, ROOTS, roots);
  rgi_spare_free(ranks);
  return error;
}

/* The first level: a process knows the places on its own node only. */
static int gather_parts(const group_step *step) {
  const rgi_level_call *split = step->split;
  rgi_level_call_part mine = rgi_level_call_mine(split, step->places);
  RGI_TRY(
      rg_allgather(step->above, &mine, sizeof mine, MPI_BYTE, step->all, sizeof mine, MPI_BYTE));
  int64_t word = rgi_level_call_word(step->all, step->places->size);
  RGI_TRY(rgi_group_error_tell(step->above, split->call, word, split->error));
  return rgi_level_call_check(split, step->all, step->places->size);
}

/* From the group above, of level k - 1 (the first: that of the call), to the next. */
static int descend_once(const rgi_level_call *split, int k, rg_group above, rg_group *level,
                        rg_group *roots) {
  const rgi_group_places *known;
  RGI_TRY(rgi_group_places_get(split->call, above, &known));
  group_step step = {.split = split, .above = above, .places = known->places};
  step.derivation = rgi_group_derive_begin(above);
  step.all = rgi_spare_alloc((size_t)step.places->size * sizeof *step.all);
  int error = step.all ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", split->call);
  if (!error && k == 0)
    error = gather_parts(&step);
  else if (!error)
    rgi_level_call_below(split, step.places, step.all);
  if (!error)
    error = make_level(&step, level);
  if (!error && split->rooted)
    error = make_roots(&step, roots);
  rgi_spare_free(step.all);
  return error;
}

static int descend(const rgi_level_call *split, rg_group g, rg_group parts[], rg_group roots[],
                   int *levels) {
  int n = 0, error = RG_SUCCESS;
  rg_group above = g;
  while (n < split->most && above && !error) {
    parts[n] = roots[n] = NULL;
    error = descend_once(split, n, above, &parts[n], &roots[n]);
    above = parts[n++];
  }
  for (int k = 0; k < n && error; k++) {
    rg_group_free(&parts[k]);
    rg_group_free(&roots[k]);
  }
  *levels = n > 0 && !parts[n - 1] ? n - 1 : n;
  if (!error && *levels == 0)
    rgi_level_call_tell_none(split, g->me);
  return error;
}

static int split_once(const rgi_level_call *split, rg_group g, rg_group *part) {
  rg_group level, roots;
  int levels;
  RGI_TRY(descend(split, g, &level, &roots, &levels));
  *part = levels ? level : NULL;
  return RG_SUCCESS;
}

int rg_group_split_topology(rg_group g, int filter, int key, rg_group *part) {
  RGI_REQUIRE(part);
  RGI_TRY(rgi_group_check_member(__func__, g));
  rgi_level_call c = rgi_level_call_of(__func__, filter, key, 1, 0);
  return split_once(&c, g, part);
}

int rg_group_split_level(rg_group g, const char *type, int key, rg_group *part) {
  RGI_REQUIRE(part);
  RGI_TRY(rgi_group_check_member(__func__, g));
  rgi_level_call c = rgi_level_call_named(__func__, type, key);
  return split_once(&c, g, part);
}

int rg_group_hierarchy(rg_group g, int filter, int max, rg_group parts[], rg_group roots[],
                       int *levels) {
  rg_group made[RG_LEVELS_MOST], made_roots[RG_LEVELS_MOST];
  int n;
  RGI_REQUIRE(parts);
  RGI_REQUIRE(levels);
  RGI_TRY(rgi_group_check_member(__func__, g));
  rgi_level_call c = rgi_level_call_of(__func__, filter, 0, max, roots != NULL);
  RGI_TRY(descend(&c, g, made, made_roots, &n));
  for (int k = 0; k < n; k++) {
    parts[k] = made[k];
    if (roots)
      roots[k] = made_roots[k];
  }
  *levels = n;
  return RG_SUCCESS;
}

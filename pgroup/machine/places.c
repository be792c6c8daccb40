/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Levels of a hierarchy. The processes that share a resource of a process's path are never more
 * than those that share the one before it. So the level below a communicator is found by walking
 * down the path to the first resource that passes the filter and that fewer processes share; it
 * extends as far down as the number of processes stays the same. */
#include "machine/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/spare.h"

rgi_places *rgi_places_new(int size, int rows) {
  rgi_places *places = rgi_spare_alloc(sizeof *places + (size_t)rows * sizeof places->at[0]);
  if (places) {
    atomic_init(&places->holders, 1);
    places->size = size;
    places->me = 0;
    places->rows = rows;
  }
  return places;
}

rgi_places *rgi_places_retain(rgi_places *places) {
  atomic_fetch_add(&places->holders, 1);
  return places;
}

void rgi_places_release(rgi_places *places) {
  if (places && atomic_fetch_sub(&places->holders, 1) == 1)
    rgi_spare_free(places);
}

int rgi_places_reconcile(rgi_places *places) {
  int same = 1;
  for (int r = 1; r < places->rows; r++)
    same = same && places->at[r].machine == places->at[0].machine;
  for (int r = 0; r < places->rows && !same; r++)
    places->at[r].length = 1;
  return same;
}

int rgi_places_common_length(const rgi_machine_place *a, const rgi_machine_place *b, int most) {
  int least = a->length < b->length ? a->length : b->length, i = 0;
  while (i < least && i < most && memcmp(&a->chain[i], &b->chain[i], sizeof a->chain[i]) == 0)
    i++;
  return i;
}

/* For each resource of the path of `row` the number of processes that share it. */
static void count_sharers(const rgi_places *places, int row, int sharers[RGI_CHAIN]) {
  memset(sharers, 0, RGI_CHAIN * sizeof *sharers);
  for (int r = 0; r < places->rows; r++)
    for (int i = rgi_places_common_length(&places->at[row], &places->at[r], RGI_CHAIN); i > 0; i--)
      sharers[i - 1]++;
}

/* Where in the path the level begins; the path's length if there is none. Of several resources of
 * a type that contain one another it is the innermost. */
static int find_depth(const rgi_places *places, const rgi_machine_place *own,
                      rgi_places_choice choice, const int sharers[RGI_CHAIN]) {
  int depth = 0;
  if (choice.filter)
    while (depth < own->length &&
           (sharers[depth] == places->size ||
            !(rgi_machine_resource_class(&own->chain[depth]) & choice.filter)))
      depth++;
  else {
    depth = own->length - 1;
    while (depth >= 0 && own->chain[depth].type != (int16_t)choice.type)
      depth--;
  }
  return depth < 0 ? own->length : depth;
}

int rgi_places_level_below(const rgi_places *places, int row, rgi_places_choice choice,
                           rgi_places_level *level) {
  int sharers[RGI_CHAIN], first = 0;
  const rgi_machine_place *own = &places->at[row];
  count_sharers(places, row, sharers);
  int depth = find_depth(places, own, choice, sharers);
  if (depth == own->length)
    return 0;
  int last = depth;
  while (last + 1 < own->length && sharers[last + 1] == sharers[depth])
    last++;
  while (rgi_places_common_length(own, &places->at[first], RGI_CHAIN) <= depth)
    first++;
  *level = (rgi_places_level){
      .depth = depth, .last = last, .count = sharers[depth], .first = places->at[first].rank};
  return 1;
}

int rgi_places_level_has(const rgi_places *places, int row, const rgi_places_level *level,
                         int other) {
  return rgi_places_common_length(&places->at[row], &places->at[other], RGI_CHAIN) > level->depth;
}

const char *rgi_places_level_types(const rgi_places *places, int row, rgi_places_choice choice,
                                   const rgi_places_level *level, char types[RGI_PLACES_TYPES]) {
  const rgi_machine_resource *chain = places->at[row].chain;
  types[0] = 0;
  for (int i = level->depth; i <= level->last; i++)
    if (!choice.filter || (rgi_machine_resource_class(&chain[i]) & choice.filter)) {
      if (types[0])
        strcat(types, ",");
      strcat(types, rgi_machine_resource_type(&chain[i]));
    }
  return rgi_machine_resource_type(&chain[level->depth]);
}

typedef struct {
  int key, row;
} keyed_row;

static int by_key(const void *a, const void *b) {
  const keyed_row *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

rgi_places *rgi_places_below(const rgi_places *places, int row, const rgi_places_level *level,
                             const int keys[]) {
  rgi_places *below = rgi_places_new(level->count, level->count);
  keyed_row *order = rgi_spare_alloc((size_t)level->count * sizeof *order);
  int n = 0;
  for (int r = 0; below && order && r < places->rows; r++)
    if (rgi_places_level_has(places, row, level, r))
      order[n++] = (keyed_row){keys ? keys[places->at[r].rank] : 0, r};
  if (below && order)
    qsort(order, (size_t)n, sizeof *order, by_key);
  for (int i = 0; i < n; i++) {
    below->at[i] = places->at[order[i].row];
    below->at[i].rank = i;
    if (order[i].row == places->me)
      below->me = i;
  }
  if (!order) {
    rgi_places_release(below);
    below = NULL;
  }
  rgi_spare_free(order);
  return below;
}

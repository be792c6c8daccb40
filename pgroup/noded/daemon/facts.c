/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. A list, and a hash table of places in it. */
#include "noded/daemon/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

static struct {
  rgi_overlay_fact *list;
  size_t n, room;
  size_t *place, places; /* hash table of indices in the list, plus 1; at most half full */
} facts;

static size_t *place_of(const rgi_overlay_fact *fact) {
  size_t at = rgi_mix_bits(fact->value + rgi_mix_bits(fact->kind)) & (facts.places - 1);
  while (facts.place[at] && memcmp(&facts.list[facts.place[at] - 1], fact, sizeof *fact) != 0)
    at = (at + 1) & (facts.places - 1);
  return &facts.place[at];
}

static int grow_table(void) {
  size_t room = facts.room ? 2 * facts.room : 256;
  rgi_overlay_fact *list = realloc(facts.list, room * sizeof *list);
  if (list)
    facts.list = list;
  size_t *place = list ? calloc(2 * room, sizeof *place) : NULL;
  if (!place)
    return 0;
  free(facts.place);
  facts.place = place;
  facts.room = room;
  facts.places = 2 * room;
  for (size_t i = 0; i < facts.n; i++)
    *place_of(&facts.list[i]) = i + 1;
  return 1;
}

int rgi_facts_note(const rgi_overlay_fact *fact) {
  if (facts.n == facts.room && !grow_table())
    return 0;
  size_t *place = place_of(fact);
  if (*place)
    return 0;
  facts.list[facts.n++] = *fact;
  *place = facts.n;
  return 1;
}

size_t rgi_facts_count(void) {
  return facts.n;
}

rgi_overlay_fact rgi_facts_get(size_t i) {
  return facts.list[i];
}

void rgi_facts_free(void) {
  free(facts.list);
  free(facts.place);
  memset(&facts, 0, sizeof facts);
}

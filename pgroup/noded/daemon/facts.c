/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. Facts are a list, with a hash table of places in it. Decisions are kept by
 * number: each takes a node away at least, so there are fewer than nodes. */
#include "noded/daemon/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

/* --- facts --------------------------------------------------------------------------------- */

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

/* --- decisions ----------------------------------------------------------------------------- */

static struct {
  int nodes;
  rgi_facts_decided **known; /* by number; [0] is not used */
} decisions;

size_t rgi_facts_decision_bytes(void) {
  return sizeof(rgi_facts_decided) + (size_t)decisions.nodes;
}

static int is_possible(const rgi_facts_decided *decision) {
  int taken = 0;
  for (int i = 0; i < decisions.nodes; i++)
    taken += decision->set[i] == 1;
  return decision->number >= 1 && decision->number <= (uint32_t)decisions.nodes &&
         decision->nodes == (uint32_t)decisions.nodes && taken > 0;
}

/* Takes the decision over. */
static const rgi_facts_decided *keep_decision(rgi_facts_decided *decision) {
  if (!is_possible(decision) || decisions.known[decision->number]) {
    free(decision);
    return NULL;
  }
  return decisions.known[decision->number] = decision;
}

const rgi_facts_decided *rgi_facts_decide(uint32_t number, const unsigned char set[]) {
  rgi_facts_decided *decision = malloc(rgi_facts_decision_bytes());
  if (!decision)
    return NULL;
  *decision = (rgi_facts_decided){.number = number, .nodes = (uint32_t)decisions.nodes};
  for (int i = 0; i < decisions.nodes; i++)
    decision->set[i] = set[i] != 0;
  return keep_decision(decision);
}

const rgi_facts_decided *rgi_facts_note_decision(const void *data, size_t bytes) {
  rgi_facts_decided *decision = bytes == rgi_facts_decision_bytes() ? malloc(bytes) : NULL;
  if (!decision)
    return NULL;
  memcpy(decision, data, bytes);
  return keep_decision(decision);
}

const rgi_facts_decided *rgi_facts_decision(uint32_t number) {
  return number >= 1 && number <= (uint32_t)decisions.nodes ? decisions.known[number] : NULL;
}

/* --- all ----------------------------------------------------------------------------------- */

int rgi_facts_open(int nodes) {
  decisions.nodes = nodes;
  decisions.known = calloc((size_t)nodes + 1, sizeof(rgi_facts_decided *));
  return decisions.known != NULL;
}

void rgi_facts_close(void) {
  free(facts.list);
  free(facts.place);
  memset(&facts, 0, sizeof facts);
  for (int i = 1; decisions.known && i <= decisions.nodes; i++)
    free(decisions.known[i]);
  free(decisions.known);
  decisions.known = NULL;
}

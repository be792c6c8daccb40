/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. Each decision takes a node away at least, so there are fewer than nodes. */
#include "noded/daemon/decisions.h"

#include <stdlib.h>
#include <string.h>

static struct {
  int nodes;
  rgi_decision **known; /* by number; [0] is not used */
} decisions;

size_t rgi_decisions_bytes(void) {
  return sizeof(rgi_decision) + (size_t)decisions.nodes;
}

static int is_possible(const rgi_decision *decision) {
  int taken = 0;
  for (int i = 0; i < decisions.nodes; i++)
    taken += decision->set[i] == 1;
  return decision->number >= 1 && decision->number <= (uint32_t)decisions.nodes &&
         decision->nodes == (uint32_t)decisions.nodes && taken > 0;
}

/* Takes the decision over. */
static const rgi_decision *keep_decision(rgi_decision *decision) {
  if (!is_possible(decision) || decisions.known[decision->number]) {
    free(decision);
    return NULL;
  }
  return decisions.known[decision->number] = decision;
}

const rgi_decision *rgi_decisions_make(uint32_t number, const unsigned char set[]) {
  rgi_decision *decision = malloc(rgi_decisions_bytes());
  if (!decision)
    return NULL;
  *decision = (rgi_decision){.number = number, .nodes = (uint32_t)decisions.nodes};
  for (int i = 0; i < decisions.nodes; i++)
    decision->set[i] = set[i] != 0;
  return keep_decision(decision);
}

const rgi_decision *rgi_decisions_note(const void *data, size_t bytes) {
  rgi_decision *decision = bytes == rgi_decisions_bytes() ? malloc(bytes) : NULL;
  if (!decision)
    return NULL;
  memcpy(decision, data, bytes);
  return keep_decision(decision);
}

const rgi_decision *rgi_decisions_get(uint32_t number) {
  return number >= 1 && number <= (uint32_t)decisions.nodes ? decisions.known[number] : NULL;
}

int rgi_decisions_open(int nodes) {
  decisions.nodes = nodes;
  decisions.known = calloc((size_t)nodes + 1, sizeof(rgi_decision *));
  return decisions.known != NULL;
}

void rgi_decisions_close(void) {
  for (int i = 1; decisions.known && i <= decisions.nodes; i++)
    free(decisions.known[i]);
  free(decisions.known);
  decisions.known = NULL;
}

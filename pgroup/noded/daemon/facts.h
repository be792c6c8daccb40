/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The facts that a node daemon knows (overlay.h), in the order in which it has learnt them, and the
 * decisions about the presence of nodes (presence.h). A decision is one fact, its number and its
 * set together, so none can be known in part, whichever way and order facts come in. Runs in
 * guards. */
#ifndef RGI_FACTS_H
#define RGI_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "noded/wire/overlay.h"

/* nodes: of the job. 0: no memory. */
int rgi_facts_open(int nodes);
void rgi_facts_close(void);

/* 1: it is new; 0: it was known, or there is no memory. */
int rgi_facts_note(const rgi_overlay_fact *fact);

size_t rgi_facts_count(void);
rgi_overlay_fact rgi_facts_get(size_t i);

/* A decision, as daemons send it to one another. */
typedef struct {
  uint32_t number, nodes; /* number: from 1 on; nodes: of the job */
  unsigned char set[];    /* for each node: this decision takes it away */
} rgi_facts_decided;

size_t rgi_facts_decision_bytes(void);

/* A decision that has been made here, or a message. NULL: it was known, is not possible, or there
 * is no memory. */
const rgi_facts_decided *rgi_facts_decide(uint32_t number, const unsigned char set[]);
const rgi_facts_decided *rgi_facts_note_decision(const void *data, size_t bytes);

/* NULL: it is not known. A later one may be. */
const rgi_facts_decided *rgi_facts_decision(uint32_t number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The decisions about the presence of nodes (presence.h) that a node daemon knows. A decision is
 * one fact, its number and its set together, so none can be known in part, whichever way and order
 * facts come in. Runs in guards. */
#ifndef RGI_DECISIONS_H
#define RGI_DECISIONS_H

#include <stddef.h>
#include <stdint.h>

/* As daemons send it to one another. */
typedef struct {
  uint32_t number, nodes; /* number: from 1 on; nodes: of the job */
  unsigned char set[];    /* for each node: this decision takes it away */
} rgi_decision;

/* 0: no memory. */
int rgi_decisions_open(int nodes);
void rgi_decisions_close(void);

size_t rgi_decisions_bytes(void);

/* A decision that has been made here, or a message. NULL: it was known, is not possible, or there
 * is no memory. */
const rgi_decision *rgi_decisions_make(uint32_t number, const unsigned char set[]);
const rgi_decision *rgi_decisions_note(const void *data, size_t bytes);

/* NULL: it is not known. A later one may be. */
const rgi_decision *rgi_decisions_get(uint32_t number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The facts that a node daemon knows (overlay.h), in the order in which it has learnt them. Runs in
 * guards. */
#ifndef RGI_FACTS_H
#define RGI_FACTS_H

#include <stddef.h>

#include "noded/wire/overlay.h"

/* 1: it is new; 0: it was known, or there is no memory. */
int rgi_facts_note(const rgi_overlay_fact *fact);

size_t rgi_facts_count(void);
rgi_overlay_fact rgi_facts_get(size_t i);
void rgi_facts_free(void);

#endif

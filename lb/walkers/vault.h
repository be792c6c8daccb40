/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The vault: in a job that survives deaths, what is known of each walker, in the node's
 * arena, which outlives its processes. A walker has two versions and a number that says
 * which of them holds: the leader of its group writes the other one after each unit, and
 * then changes the number. Whoever is killed while it writes leaves the version that holds
 * as it was. The walkers that a unit has made hang on the version that the unit ended in:
 * so they are there when, and only when, the unit is. */
#ifndef RGI_WALKERS_VAULT_H
#define RGI_WALKERS_VAULT_H

#include "balancer.h"

/* Finds the vault for the walkers of b->list, and names each one's place in it. */
int rgi_vault_open(rg_balancer b);
/* By one process: what b->list says. */
int rgi_vault_fill(rg_balancer b);
void rgi_vault_close(rg_balancer b);

/* While nobody works: b->list becomes the walkers that have not ended. */
int rgi_vault_read(rg_balancer b);

/* A walker as it stands; *memory, if there is a state, is the caller's. */
int rgi_vault_load(const rgi_entry *entry, int64_t *done, double *left, int64_t *bytes,
                   void **memory);
/* By the leader: its walker has done a unit; the state, packed; those that the unit has made. */
int rgi_vault_keep(rg_balancer b, const void *state, size_t bytes, int has);
/* A walker has ended, by this process: the one that it works on, with what that has made, or one
 * that waited. */
int rgi_vault_end(rg_balancer b, const rgi_entry *entry, const rg_outcome *o);

/* All walkers that have ended: those of dead leaders only, which become this process's; or all. */
int rgi_vault_outcomes(rg_balancer b, int of_dead, rgi_outcomes *list);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The vault: in a job that survives deaths, what is known of each walker, in the node's
 * arena, which outlives its processes. A walker has two versions and a number that says
 * which of them holds: the leader of its group writes the other one after each unit, and
 * then changes the number. Whoever is killed while it writes leaves the version that holds
 * as it was. A version says how many walkers the units have made: one that was made is there
 * when, and only when, its mother's version knows of it.
 *
 * Each node has a vault. A record goes from one to another as a packed copy (copies.c); of two
 * versions of a walker the one with more units counts. */
#ifndef RGI_WALKERS_VAULT_H
#define RGI_WALKERS_VAULT_H

#include "walkers/balancer.h"

/* Finds the vault of this node for the walkers of b->list, and names each one's place in it. */
int rgi_vault_open(rg_balancer b);
/* By one process of each node: what b->list says. */
int rgi_vault_fill(rg_balancer b);
void rgi_vault_close(rg_balancer b);

/* While nobody works, by one process of each node: walkers whose mother does not know of them
 * are none. */
int rgi_vault_sweep(rg_balancer b);
/* While nobody works: b->list becomes the walkers that have not ended, in an order that is the
 * same on all nodes. */
int rgi_vault_read(rg_balancer b);

/* A walker as it stands; *memory, if there is a state, is the caller's. */
int rgi_vault_load(const rgi_entry *entry, int64_t *done, double *left, int64_t *bytes,
                   void **memory);
/* By the leader: its walker has done a unit; the state, packed; those that the unit has made. */
int rgi_vault_keep(rg_balancer b, const void *state, size_t bytes, int has);
/* A walker has ended, by this process: the one that it works on, with what that has made, or one
 * that waited. */
int rgi_vault_end(rg_balancer b, const rgi_entry *entry, const rg_outcome *o);

/* The walkers that have ended: all; or those by this process, and if it is the first one, by the
 * dead. */
int rgi_vault_outcomes(rg_balancer b, int all, rgi_outcomes *list);

/* --- copies.c ----------------------------------------------------------------------------- */

/* Whether there is more than one node, so that copies are needed. */
int rgi_vault_many(const struct rg_balancer_s *b);
/* This process does for its node what one of each does. */
int rgi_vault_speaks(const struct rg_balancer_s *b);
/* Adds a copy of a record, packed, to memory that grows. */
int rgi_copies_add(rgi_copies *c, uint64_t offset);
void rgi_copies_free(rgi_copies *c);
/* Takes packed records in: the last one's place. */
int rgi_copies_take(rg_balancer b, const void *packed, size_t bytes, uint64_t *record);
/* While nobody works: every node's vault has what any has. Those that speak call. */
int rgi_copies_exchange(rg_balancer b);

/* A walker that waits goes to another node, with its record packed as its memory; and has come
 * from one. Nothing where there is no vault. */
int rgi_entry_wrap(rg_balancer b, rgi_entry *e);
int rgi_entry_unwrap(rg_balancer b, rgi_entry *e);

/* --- keeper.c: while walkers run, another node is told how far they are -------------------- */

int rgi_keeper_open(rg_balancer b);
void rgi_keeper_close(rg_balancer b);
/* A walker was made: it goes with its mother's next copy. */
int rgi_keeper_add(rg_balancer b, uint64_t record);
/* A walker of this process has a new version. */
int rgi_keeper_tell(rg_balancer b, uint64_t record, int ended);
/* Takes what others tell, and answers. */
int rgi_keeper_serve(rg_balancer b);
/* Whether something that was told has not been answered. */
int rgi_keeper_waits(const struct rg_balancer_s *b);

#endif

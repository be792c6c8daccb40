/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A group's collective state, attached to the group at its first collective. */
#ifndef RGI_COLL_OF_GROUP_H
#define RGI_COLL_OF_GROUP_H

#include "collectives/schedule/coll_state.h"

/* The collective state of a group that the caller is a member of: made now if need be. Without
 * memory the others, which may wait for the caller, are told. */
int rgi_coll_get(const char *call, rg_group g, rgi_coll **coll);

/* As rgi_coll_get, but the other members are not told: the caller calls rgi_coll_get next, or only
 * asks. */
int rgi_coll_try(const char *call, rg_group g, rgi_coll **coll);

/* As rgi_coll_try, and the shared memory in which the members on this node meet: the group's first
 * operation needs none then. */
int rgi_coll_attach(const char *call, rg_group g);

/* Of a group that has its collective state: the error that has ended an operation, after which no
 * other one succeeds; 0: none. *call: the number of that operation, from 1; 0: not known. Local. */
int rgi_coll_error(rg_group g, uint32_t *call);

/* By survivors who form a group: takes its flags now, of what the arena has set aside for them. If
 * there is no room for them the group's first operation says so. */
void rgi_coll_attach_surviving(const char *call, rg_group g);

#endif

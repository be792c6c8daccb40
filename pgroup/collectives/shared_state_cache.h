/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The cache of shared state: which one a group gets. */
#ifndef RGI_SHARED_STATE_CACHE_H
#define RGI_SHARED_STATE_CACHE_H

#include <regroup/group.h>

#include "collectives/shared_state.h"

/* The slots of the states that a process keeps for later groups have so many bytes at most. */
#define RGI_SHARED_STATE_CACHE_IDLE ((size_t)1 << 20)

/* The shared state of g's members on the caller's node, in g's order. Local: no message, no
 * waiting; the shared memory is attached at the first operation. */
int rgi_shared_state_cache_attach(rg_group g, rgi_shared_state **l);
void rgi_shared_state_cache_detach(rgi_shared_state *l);

/* By a group's first operation on the state that has a step: attaches the memory and, if the state
 * is broken and no member of the group has begun on it, replaces it by one of the group's own.
 * group: a number of the group, not 0, the same on all members. Local. RG_ERR_NOMEM. */
int rgi_shared_state_cache_join(uint64_t group, rgi_shared_state **l);

/* Breaks the group's own state: the caller has begun on the common one, and got an error. */
void rgi_shared_state_cache_break(const rgi_shared_state *l, uint64_t group, int error);

/* g is revoked: the cached state of its members is broken, and groups that are formed from
 * now on get another one. */
void rgi_shared_state_cache_invalidate(rg_group g);

#endif

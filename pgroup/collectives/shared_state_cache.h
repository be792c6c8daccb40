/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The cache of shared state: which one a group gets. */
#ifndef RGI_SHARED_STATE_CACHE_H
#define RGI_SHARED_STATE_CACHE_H

#include <regroup/group.h>

#include "collectives/shared_state.h"

/* The shared state of g's members on the caller's node, in g's order. Local: no message, no
 * waiting; the shared memory is attached at the first operation. */
int rgi_shared_state_cache_attach(rg_group g, rgi_shared_state **l);
void rgi_shared_state_cache_detach(rgi_shared_state *l);

/* g is revoked: the cached state of its members is broken, and groups that are formed from
 * now on get another one. */
void rgi_shared_state_cache_invalidate(rg_group g);

#endif

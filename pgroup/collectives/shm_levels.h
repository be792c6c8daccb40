/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Small broadcasts and reductions that follow the levels of a node (levels.h), where each process
 * has a processor: a member reads the cells or chunks of its children and its parent only. */
#ifndef RGI_SHM_LEVELS_H
#define RGI_SHM_LEVELS_H

#include "collectives/shm_coll.h"

/* Whether a broadcast of so many bytes, or a reduction, goes by levels: the same on all members.
 * The shared buffer has been attached if they need it. A reduction by the user's own operation does
 * not, which may depend on the order of members. */
int rgi_shm_levels_carry(const rgi_shared_state *l, size_t bytes);
int rgi_shm_levels_combine(const rgi_shared_state *l, const rgi_shm_coll_reduction *r);

/* l->bytes is set. */
int rgi_shm_levels_bcast(rgi_shared_state *l, void *data, size_t bytes, int root, const char *call);
int rgi_shm_levels_reduce(rgi_shared_state *l, const rgi_shm_coll_reduction *r);

#endif
